/** Desired objects. */
import { apiVersionOf, type KubeObject, type Resource } from '@reeve/kube'
import { describeObject, RuntimeError } from '../runtime-error.ts'

/** One object that should exist, and how to create and update it. */
export interface DesiredObject<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly object: T
  /** Objects of a wave are written after all of the lower ones. @default 0 */
  readonly wave: number
  /**
   * Whether the live object is far enough for the next wave to start.
   * @default always
   */
  isReady?(live: T): boolean
  /**
   * What to do when the server rejects a change of an immutable field: `recreate` deletes the object and creates it
   * again, `fail` reports the rejection.
   * @default 'fail'
   */
  readonly onImmutable: 'fail' | 'recreate'
  /**
   * Paths of lists and maps in which other managers may not have entries, such as `spec.ports` of a Service.
   * @default none: entries of other managers are kept
   */
  readonly sole?: readonly string[]
  /**
   * What to do about an object of this name that is not the operator's: `fail` does not change it and reports it, `adopt`
   * takes control of it. Adopt only names that are unambiguous.
   * @default 'fail'
   */
  readonly onForeign: 'fail' | 'adopt'
  /**
   * Sets just these fields, by a merge patch, on an object of another owner, such as labels of a namespace.
   * It is never created or deleted.
   * @default false
   */
  readonly fieldsOnly: boolean
  /**
   * Creates the object when it does not exist and never changes it afterwards: it gets no owner, and is never changed or
   * pruned. Its kind need not be cached; render it only when it may be missing, as each render is a request.
   * @default false
   */
  readonly createOnly: boolean
  /** With `fieldsOnly`: fields that are sent along with a change but do not cause one, such as an annotation. */
  readonly along?: Readonly<Record<string, unknown>>
}

/** Options of {@link desired}. */
export type DesiredOptions<T extends KubeObject> = Partial<
  Pick<
    DesiredObject<T>,
    'wave' | 'isReady' | 'onImmutable' | 'sole' | 'onForeign' | 'fieldsOnly' | 'createOnly' | 'along'
  >
>

/**
 * Declares an object that should exist; `apiVersion` and `kind` come from the resource.
 *
 * @example
 * desired(ConfigMaps, { metadata: { namespace: 'shop', name: 'web' }, data: { color: 'blue' } }, { wave: 1 })
 */
export function desired<T extends KubeObject>(
  resource: Resource<T>,
  object: Omit<T, 'apiVersion' | 'kind'>,
  options: DesiredOptions<T> = {},
): DesiredObject<T> {
  // What the parameter omits is added here.
  const complete = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object } as T
  return {
    resource,
    object: complete,
    wave: 0,
    onImmutable: 'fail',
    onForeign: 'fail',
    fieldsOnly: false,
    createOnly: false,
    ...options,
  }
}

/** The rendered objects contradict each other: a bug in the operator that retrying does not fix. */
export class InvalidDesiredStateError extends RuntimeError {
  override readonly name = 'InvalidDesiredStateError'

  constructor(message: string) {
    super('INVALID_DESIRED_STATE', message)
  }
}

/** Identifies an object among those of one plan. */
export function identityOf(resource: Resource, object: KubeObject): string {
  return `${resource.group}/${resource.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`
}

/** Rejects a desired state that names an object twice, or not at all. */
export function checkDesired(objects: readonly DesiredObject[]): void {
  const seen = new Set<string>()
  for (const { resource, object } of objects) {
    const { name, namespace } = object.metadata
    if (name === undefined) throw new InvalidDesiredStateError(`a desired ${resource.kind} has no metadata.name`)
    if (resource.namespaced !== (namespace !== undefined)) {
      const remedy = resource.namespaced ? 'set metadata.namespace' : 'remove metadata.namespace'
      throw new InvalidDesiredStateError(`${resource.kind} ${name} has the wrong scope: ${remedy}`)
    }
    if ('stringData' in object) {
      throw new InvalidDesiredStateError(`${describeObject(object)} uses stringData, which is write-only: use data`)
    }
    const identity = identityOf(resource, object)
    if (seen.has(identity)) throw new InvalidDesiredStateError(`${describeObject(object)} is desired twice`)
    seen.add(identity)
  }
}
