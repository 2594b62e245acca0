/** Messages of the kubelet's plugin registration, version 1. */
import { message, readFields, text, textField } from './protobuf.ts'

/** What a plugin reports about itself. */
export interface PluginRegistration {
  readonly type: string
  readonly name: string
  /** The socket of the plugin as the kubelet sees it. */
  readonly endpoint: string
  readonly supportedVersions: readonly string[]
}

/** Whether the kubelet accepted the plugin. */
export interface RegistrationStatus {
  readonly isRegistered: boolean
  readonly error: string
}

/** Writes the response to `GetInfo`. */
export function writePluginRegistration(plugin: PluginRegistration): Buffer {
  const { type, name, endpoint, supportedVersions } = plugin
  const versions = supportedVersions.map((version) => textField(4, version))
  return message(textField(1, type), textField(2, name), textField(3, endpoint), ...versions)
}

/** Reads the request of `NotifyRegistrationStatus`. */
export function readRegistrationStatus(bytes: Uint8Array): RegistrationStatus {
  let isRegistered = false
  let error = ''
  for (const { number, value } of readFields(bytes)) {
    if (number === 1) isRegistered = value === 1n
    else if (number === 2) error = text(value)
  }
  return { isRegistered, error }
}
