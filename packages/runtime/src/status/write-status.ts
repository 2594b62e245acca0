/** Writes the status of a resource if it differs. */
import {
  isApiError,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Stored,
  type WriteOptions,
} from '@reeve/kube'
import { isJsonEqual } from '../json/json-equal.ts'
import { RuntimeError, StaleViewError } from '../runtime-error.ts'

/** A status has fields that its schema lacks, so that the server dropped them. The rest of it was written. */
export class UnknownStatusFieldsError extends RuntimeError {
  override readonly name = 'UnknownStatusFieldsError'
  /** Such as `status.phase`. */
  readonly fields: readonly string[]
  readonly #written: KubeObject

  constructor({ plural, group, version }: Resource, fields: readonly string[], written: KubeObject) {
    super(
      'UNKNOWN_STATUS_FIELDS',
      `the schema of ${plural}.${group} in ${version} lacks ${fields.join(', ')}: add it to the CRD, or install the CRD ` +
        'that belongs to this operator',
    )
    this.fields = fields
    this.#written = written
  }

  /** What the server kept. Not a property of its own, which logs would contain. */
  get written(): KubeObject {
    return this.#written
  }
}

/**
 * Replaces the status subresource.
 *
 * *Guarantees*: no request when `status` equals what `object` carries; never overwrites a status written after
 * `object` was read. Resolves to the written object, or to undefined when there was nothing to write or
 * the object does not exist. *Errors*: `StaleViewError` when the object changed meanwhile; `UnknownStatusFieldsError` when
 * the schema lacks fields, after the others were written: unless `fieldValidation` says that this does not matter.
 *
 * @example
 * await writeStatus(client, WebApps, app, { phase: 'Ready' }, { signal })
 */
export async function writeStatus<T extends KubeObject & { readonly status?: unknown }>(
  client: KubeClient,
  resource: Resource<T>,
  object: Stored<T>,
  status: T['status'],
  { fieldValidation = 'Strict', ...options }: Pick<WriteOptions, 'signal' | 'fieldManager' | 'fieldValidation'> = {},
): Promise<Stored<T> | undefined> {
  if (isJsonEqual(object.status, status)) return undefined
  // managedFields in a cached object are incomplete; left out, the server keeps its own.
  const { managedFields: _managedFields, ...metadata } = object.metadata
  const write = (validation: WriteOptions['fieldValidation'] & {}) =>
    client.update(
      resource,
      { ...object, metadata, status },
      { ...options, fieldValidation: validation, subresource: 'status' },
    )
  try {
    return await write(fieldValidation).catch(async (error: unknown) => {
      const fields = unknownFieldsOf(error)
      if (fields.length === 0) throw error
      throw new UnknownStatusFieldsError(resource, fields, await write('Ignore'))
    })
  } catch (error) {
    if (isConflict(error)) throw new StaleViewError(object, { cause: error })
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** From a rejection such as `strict decoding error: unknown field "status.phase"`. */
function unknownFieldsOf(error: unknown): readonly string[] {
  if (!isApiError(error) || error.status !== 400) return []
  return [...error.message.matchAll(/unknown field "([^"]+)"/g)].map(([, field = '']) => field)
}
