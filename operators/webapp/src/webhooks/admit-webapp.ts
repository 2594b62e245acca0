/** What the webhooks say about a WebApp. */
import { applyDefaults, objectSchema, type Problem } from '@reeve/crd'
import { type WebApp, WebAppCrd } from '../api/webapp.ts'
import { validateWebApp } from '../validate-webapp.ts'

const SCHEMA = objectSchema(WebAppCrd, 'v1')
const PART_OF = 'app.kubernetes.io/part-of'

/** The response of the validating webhook. */
export interface Admission {
  readonly allowed: boolean
  /** Why not, with every field and its remedy. */
  readonly message?: string
  readonly warnings: readonly string[]
}

/**
 * Accepts or refuses a WebApp.
 *
 * @example
 * const { allowed, message } = admitWebApp(webapp)
 */
export function admitWebApp(webapp: WebApp): Admission {
  const verdict = validateWebApp(webapp)
  const warnings = verdict.warnings.map(sentence)
  if (verdict.problems.length === 0) return { allowed: true, warnings }
  return { allowed: false, warnings, message: verdict.problems.map(sentence).join('; ') }
}

const sentence = ({ field, message }: Problem): string => `${field}: ${message}`

/**
 * Fills in what a user may leave out: the schema's defaults, and a label by which all objects of an application are
 * found. Labels that the user has set are kept.
 *
 * @example
 * const complete = completeWebApp(webapp)
 */
export function completeWebApp(webapp: WebApp): WebApp {
  const defaulted = applyDefaults(SCHEMA, webapp)
  const { labels, name } = defaulted.metadata
  if (labels?.[PART_OF] !== undefined || name === undefined) return defaulted
  return { ...defaulted, metadata: { ...defaulted.metadata, labels: { ...labels, [PART_OF]: name } } }
}
