// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `sendUserMessage`, as Codex 0.44.0 takes or sends them. */
export interface SendUserMessageParams {
  readonly conversationId: string
  readonly items: readonly SendUserMessageParamsItemsItem[]
}

export type SendUserMessageParamsItemsItem =
  | SendUserMessageParamsItemsItemText
  | SendUserMessageParamsItemsItemImage
  | SendUserMessageParamsItemsItemLocalImage

export interface SendUserMessageParamsItemsItemText {
  readonly type: 'text'
  readonly data: SendUserMessageParamsItemsItemTextData
}

export interface SendUserMessageParamsItemsItemTextData {
  readonly text: string
}

export interface SendUserMessageParamsItemsItemImage {
  readonly type: 'image'
  readonly data: SendUserMessageParamsItemsItemImageData
}

export interface SendUserMessageParamsItemsItemImageData {
  readonly image_url: string
}

export interface SendUserMessageParamsItemsItemLocalImage {
  readonly type: 'localImage'
  readonly data: SendUserMessageParamsItemsItemLocalImageData
}

export interface SendUserMessageParamsItemsItemLocalImageData {
  readonly path: string
}

/** The result of it. */
export type SendUserMessageResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredSendUserMessageParams {
  readonly conversationId: string
  readonly items: readonly DeclaredSendUserMessageParamsItemsItem[]
}

export interface DeclaredSendUserMessageParamsItemsItem {
  readonly type: 'text' | 'image'
  readonly text?: string
  readonly imageUrl?: string
}

/** The result of it. */
export interface DeclaredSendUserMessageResult {
  readonly accepted: boolean
}
