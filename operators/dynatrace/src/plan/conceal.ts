/** What a plan must not show of the objects of the operator, besides data of Secrets. */
import { concealer } from '@reeve/plan'
import { ANNOTATIONS } from '../controllers/rendering/annotations.ts'

/** The hash of the desired state: it differs whenever any field does. */
const TEMPLATE_HASH = `metadata.annotations[${ANNOTATIONS.templateHash}]`

/** Whether a field only reflects that other fields differ. */
export const isEcho = (path: string): boolean => path === TEMPLATE_HASH

/** Annotations of the operator with hashes, wherever they are. */
const HASH = /annotations\[internal\.operator\.dynatrace\.com\/[a-z-]*hash\]$/

/**
 * A value at a path of an object of a kind, as it may be shown.
 *
 * @example
 * conceal('Secret', 'data.apiToken', 'ZHQwYzAx') // '(sensitive)'
 */
export const conceal = concealer({
  // The address of a proxy may contain a password; in a DynaKube it is not encoded.
  isSensitive: (kind, path) => kind === 'DynaKube' && path === 'spec.proxy.value',
  isGenerated: (path) => HASH.test(path),
})
