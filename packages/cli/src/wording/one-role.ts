/** A role with its article, as one says it: "an executor", "a user". */
export const oneRole = (role: string): string => `${/^[aei]/.test(role) ? 'an' : 'a'} ${role}`
