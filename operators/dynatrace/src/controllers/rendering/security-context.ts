/** The privileges of the containers that this operator renders. */
import type { SecurityContext } from '@reeve/kube'

/**
 * A container that runs as `user`, writes nothing to its own file system and gains no privileges.
 *
 * @param additions what a component needs beyond, or forbids beyond; wins over the rest
 *
 * @example
 * const securityContext = unprivileged(1001, { capabilities: { drop: ['ALL'] } })
 */
export function unprivileged(user: number, additions: SecurityContext = {}): SecurityContext {
  return {
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    ...additions,
  }
}

/** {@link unprivileged}, and all that the Pod Security Standard "restricted" asks of a container. */
export function restricted(user: number): SecurityContext {
  return unprivileged(user, { capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } })
}
