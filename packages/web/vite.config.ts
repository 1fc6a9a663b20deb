import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  build: {
    target: 'es2024',
    // Nothing inline: the page is served with a policy that forbids it.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
})
