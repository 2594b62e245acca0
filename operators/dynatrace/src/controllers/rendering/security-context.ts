/** The privileges of the containers that this operator renders. */
import type { SecurityContext } from '@reeve/kube'

/** A container that writes nothing to its own file system and gains no privileges, whoever it runs as. */
export const NO_PRIVILEGES = {
  privileged: false,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
} as const satisfies SecurityContext

/** What the Pod Security Standard "restricted" asks beyond. */
export const NO_CAPABILITIES = { capabilities: { drop: ['ALL'] } } as const satisfies SecurityContext

/** The profile that the Pod Security Standard "restricted" asks for. */
export const DEFAULT_SECCOMP_PROFILE = { seccompProfile: { type: 'RuntimeDefault' } } as const satisfies SecurityContext

/**
 * A container that runs as `user`, writes nothing to its own file system and gains no privileges.
 *
 * @param additions what a component needs or forbids in addition; takes precedence
 *
 * @example
 * const securityContext = unprivileged(1001, NO_CAPABILITIES)
 */
export function unprivileged(user: number, additions: SecurityContext = {}): SecurityContext {
  return {
    ...NO_PRIVILEGES,
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    ...additions,
  }
}

/** {@link unprivileged}, and everything that the Pod Security Standard "restricted" requires. */
export function restricted(user: number): SecurityContext {
  return unprivileged(user, { ...NO_CAPABILITIES, ...DEFAULT_SECCOMP_PROFILE })
}
