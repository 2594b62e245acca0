/** ConfigMaps and Secrets. */
import type { KubeObject } from '../objects.ts'

/** `v1` ConfigMap. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  /** Values in base64. */
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

/** `v1` Secret. */
export interface Secret extends KubeObject {
  /** @default Opaque */
  readonly type?: string
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>
  /** Plain text; write only, the server merges it into `data`. */
  readonly stringData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}
