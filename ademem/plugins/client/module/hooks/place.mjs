// Where the rules are, and how Python is asked; `ademem install --client` writes both.
export const DATA = ''
/** @type {string[]} */
export const COMMAND = []
