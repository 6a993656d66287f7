// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for; tabs and line breaks stay
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * The text for a terminal, where control characters would move the cursor, set the title or the clipboard, and signs of
 * direction would show one text and mean another: each is written as its escape.
 */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(STEERING, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
