/** Which object a text in JSON is about, read from its beginning: a seam sees every object, and uses only its name. */

/** The metadata that tells objects and their versions apart. */
export interface ObjectHead {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** The server writes these fields first, in this order; texts without escapes stand for themselves. */
const TYPE = '"kind":"[^"\\\\]+","apiVersion":"[^"\\\\]+","metadata":'
const text = (field: string) => `(?:"${field}":"([^"\\\\]*)",?)?`
const METADATA = `\\{"name":"([^"\\\\]*)",?${text('generateName')}${text('namespace')}${text('uid')}"resourceVersion":"(\\d+)"`
const STORED = new RegExp(`^\\{${TYPE}${METADATA}`)
const EVENT = new RegExp(`^\\{"type":"([A-Z]+)","object":\\{${TYPE}${METADATA}`)

/** More than the fields take: names have at most 253 characters. */
const HEAD_BYTES = 1_200

/** The object in a response; `undefined` when only parsing all of it can tell. */
export function storedHead(json: Uint8Array): ObjectHead | undefined {
  const found = STORED.exec(beginning(json))
  if (found === null) return undefined
  const [, name, , namespace, uid, resourceVersion] = found
  return { name, namespace, uid, resourceVersion }
}

/** The same for a line of a watch. */
export function eventHead(line: Uint8Array): (ObjectHead & { readonly type: string }) | undefined {
  const found = EVENT.exec(beginning(line))
  if (found === null) return undefined
  const [, type = '', name, , namespace, uid, resourceVersion] = found
  return { type, name, namespace, uid, resourceVersion }
}

function beginning(json: Uint8Array): string {
  return Buffer.from(json.buffer, json.byteOffset, Math.min(json.byteLength, HEAD_BYTES)).toString('latin1')
}
