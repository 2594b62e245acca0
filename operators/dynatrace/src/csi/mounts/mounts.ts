/** Mounting, as the driver needs it; implementations differ in how they reach the kernel. */

/** Mounts and unmounts. *Errors* of all calls: {@link MountError}. */
export interface Mounts {
  /** Mounts `upper` over `lower` at `target`. */
  overlay(options: OverlayOptions): Promise<void>
  /** Makes the directory `source` visible at `target` as well. */
  bind(source: string, target: string): Promise<void>
  /**
   * Removes the topmost mount at `target`; returns false if there is none, or if the path ends in a symbolic link.
   *
   * @param how `lazily` removes one that is in use, with all below it: what is open stays open, and nothing new can be opened
   */
  unmount(target: string, how?: 'lazily'): Promise<boolean>
}

/** The directories of an overlay. */
export interface OverlayOptions {
  readonly lower: string
  readonly upper: string
  readonly work: string
  readonly target: string
}

/**
 * Removes all mounts at a path, also those that repeated attempts stacked on each other.
 *
 * *Errors*: {@link MountError} if one is in use.
 */
export async function unmountAll(target: string, mounts: Pick<Mounts, 'unmount'>, how?: 'lazily'): Promise<void> {
  let isMounted = true
  while (isMounted) isMounted = await mounts.unmount(target, how)
}

/** The kernel rejected a call. */
export class MountError extends Error {
  override readonly name = 'MountError'
  readonly code = 'CSI_MOUNT'
}

/** The options of an overlay, as the kernel reads them: a comma in a path would begin another option. */
export function overlayData({ lower, upper, work }: OverlayOptions): string {
  const escaped = (path: string) => path.replaceAll(/[\\,]/g, '\\$&')
  // Several directories may be below, with colons between them.
  const lowerdir = escaped(lower).replaceAll(':', '\\:')
  return `lowerdir=${lowerdir},upperdir=${escaped(upper)},workdir=${escaped(work)}`
}
