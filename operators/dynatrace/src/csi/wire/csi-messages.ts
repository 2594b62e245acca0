/** Messages of the Container Storage Interface, version 1: those that the driver reads and writes. */
import { mapEntry, message, nested, readFields, text, textField } from './protobuf.ts'

/** How a volume is to be accessed. */
export type AccessType = 'mount' | 'block'

/** A request to make a volume available to a pod; fields that the driver ignores are left out. */
export interface NodePublishVolumeRequest {
  readonly volumeId: string
  readonly targetPath: string
  /** Absent without a capability; `none` for one without an access type. */
  readonly capability?: AccessType | 'none'
  /** Absent if there is no entry at all. */
  readonly volumeContext?: Readonly<Record<string, string>>
}

/** A request to unpublish a volume. */
export interface NodeUnpublishVolumeRequest {
  readonly volumeId: string
  readonly targetPath: string
}

/** Reads a request. */
export function readPublishRequest(bytes: Uint8Array): NodePublishVolumeRequest {
  let volumeId = ''
  let targetPath = ''
  let capability: NodePublishVolumeRequest['capability']
  const context: [string, string][] = []
  for (const { number, value } of readFields(bytes)) {
    if (number === 1) volumeId = text(value)
    else if (number === 4) targetPath = text(value)
    else if (number === 5) capability = accessType(nested(value))
    else if (number === 8) context.push([...mapEntry(value)])
  }
  return {
    volumeId,
    targetPath,
    ...(capability !== undefined && { capability }),
    ...(context.length > 0 && { volumeContext: Object.fromEntries(context) }),
  }
}

/** Reads a request. */
export function readUnpublishRequest(bytes: Uint8Array): NodeUnpublishVolumeRequest {
  let volumeId = ''
  let targetPath = ''
  for (const { number, value } of readFields(bytes)) {
    if (number === 1) volumeId = text(value)
    else if (number === 2) targetPath = text(value)
  }
  return { volumeId, targetPath }
}

/** Writes the response to `GetPluginInfo`. */
export function writePluginInfo({ name, version }: { readonly name: string; readonly version: string }): Buffer {
  return message(textField(1, name), textField(2, version))
}

/** Reads the name in the response to `GetPluginInfo`. */
export function readPluginName(bytes: Uint8Array): string {
  let name = ''
  for (const { number, value } of readFields(bytes)) if (number === 1) name = text(value)
  return name
}

/** Whether the response to `Probe` says that the driver is ready, which it also says by saying nothing. */
export function readIsReady(bytes: Uint8Array): boolean {
  let isReady = true
  for (const { number, value } of readFields(bytes)) {
    // A wrapped truth value: without a field inside it is false.
    if (number === 1) isReady = [...readFields(nested(value))].some((field) => field.number === 1 && field.value === 1n)
  }
  return isReady
}

/** Writes the response to `NodeGetInfo`. */
export function writeNodeInfo({ nodeId }: { readonly nodeId: string }): Buffer {
  return message(textField(1, nodeId))
}

/** The last of several alternatives counts, as everywhere in protocol buffers. */
function accessType(capability: Uint8Array): AccessType | 'none' {
  let found: AccessType | 'none' = 'none'
  for (const { number } of readFields(capability)) {
    if (number === 1) found = 'block'
    else if (number === 2) found = 'mount'
  }
  return found
}
