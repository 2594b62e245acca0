/** Names that become part of a path. */

const MAX_NAME_BYTES = 255

/** Whether a text is a single name of a file: it cannot point outside its folder. */
export function isFileName(text: string): boolean {
  return text !== '' && !/[/\0]/.test(text) && !/^\.{1,2}$/.test(text) && Buffer.byteLength(text) <= MAX_NAME_BYTES
}
