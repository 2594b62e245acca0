/** The privileges of the containers that this operator renders. */
import type { SecurityContext } from '@reeve/kube'

/**
 * A container that runs as `user`, writes nothing to its own file system and gains no privileges.
 *
 * @param additions what a component needs or forbids in addition; takes precedence
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

/** {@link unprivileged}, and everything that the Pod Security Standard "restricted" requires. */
export function restricted(user: number): SecurityContext {
  return unprivileged(user, { capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } })
}
