/** The numbers of this package. */

/** Inputs are cut at this size unless their target says otherwise. */
export const DEFAULT_MAX_INPUT_BYTES = 64 * 1024

/** CPU time that a KiB of input may take. */
export const DEFAULT_MS_PER_KIB = 100

/** No input is too slow below this: a full garbage collection or a cold function takes that long. */
export const FLOOR_MS = 250

/** Memory that any input may take, and each of its bytes on top. */
export const FLOOR_MEMORY_BYTES = 48 * 1024 * 1024
export const MEMORY_BYTES_PER_BYTE = 2_048

/** Memory that a long run may keep after all of its inputs are done. */
export const MAX_KEPT_BYTES = 96 * 1024 * 1024

/** Bounds of the thread. The stack is that of the main thread of Node.js, where the parsers run in production. */
export const THREAD_LIMITS = { maxOldGenerationSizeMb: 768, stackSizeMb: 1 }

/** Real time after which an input is a hang. Far above its CPU budget, because the machine may be shared. */
export const HANG_FLOOR_MS = 15_000

/** Real time for making a finding smaller. */
export const MINIMISE_MS = 60_000

/** Different findings after which a run ends. */
export const MAX_FINDINGS = 10
