/** Who owns an object: the garbage collector deletes what is owned after its owner. */
import type { KubeObject, OwnerReference, Stored } from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'

/** The garbage collector would delete such an object immediately or never: ownership must not cross namespaces. */
export class CrossNamespaceOwnerError extends RuntimeError {
  override readonly name = 'CrossNamespaceOwnerError'

  constructor(owner: KubeObject, child: KubeObject) {
    const where = child.metadata.namespace === undefined ? 'is cluster-scoped' : `is in ${child.metadata.namespace}`
    super(
      'CROSS_NAMESPACE_OWNER',
      `${describe(owner)} cannot own ${describe(child)}, which ${where}: put the child in the owner's namespace, ` +
        'or clean it up with a finalizer',
    )
  }
}

/** An object has one controller at most; a second one would fight the first. */
export class AlreadyControlledError extends RuntimeError {
  override readonly name = 'AlreadyControlledError'

  constructor(owner: KubeObject, child: KubeObject, current: OwnerReference) {
    super(
      'ALREADY_CONTROLLED',
      `${describe(child)} is already controlled by ${current.kind} ${current.name} and cannot be controlled by ` +
        `${describe(owner)} too: choose another name for the child, or remove the other controller's reference`,
    )
  }
}

/**
 * The reference that makes `owner` the controller of the object with this reference.
 * Foreground deletion of the owner waits for the object.
 *
 * @example
 * const deployment = { ...template, metadata: { ...template.metadata, ownerReferences: [controllerReference(app)] } }
 */
export function controllerReference(owner: Stored<KubeObject>): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  }
}

/**
 * A copy of `child` controlled by `owner`; other owners stay. `child` itself is returned when it already is.
 *
 * *Errors*: {@link CrossNamespaceOwnerError}, {@link AlreadyControlledError}.
 *
 * @example
 * const service = withControllerReference(app, renderService(app))
 */
export function withControllerReference<T extends KubeObject>(owner: Stored<KubeObject>, child: T): T {
  const ownerNamespace = owner.metadata.namespace
  if (ownerNamespace !== undefined && ownerNamespace !== child.metadata.namespace) {
    throw new CrossNamespaceOwnerError(owner, child)
  }
  const current = controllerOf(child)
  if (current !== undefined && current.uid !== owner.metadata.uid) {
    throw new AlreadyControlledError(owner, child, current)
  }
  const reference = controllerReference(owner)
  if (current !== undefined && current.apiVersion === reference.apiVersion && current.name === reference.name) {
    return child
  }
  const others = (child.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid)
  return { ...child, metadata: { ...child.metadata, ownerReferences: [...others, reference] } }
}

/**
 * The reference to the object's controller, if it has one.
 *
 * @example
 * const owner = controllerOf(pod)
 */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true)
}

function describe(object: KubeObject): string {
  const { namespace, name = object.metadata.generateName ?? '' } = object.metadata
  return `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
