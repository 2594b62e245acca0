/** What makes a WebApp acceptable beyond its schema. Used by the webhook at the door and by the controller behind it. */
import { objectSchema, type Problem, validate } from '@reeve/crd'
import { type WebApp, WebAppCrd } from './api/webapp.ts'
import { imageVersion } from './image-version.ts'
import { InvalidWebAppError } from './invalid-webapp-error.ts'

/** The verdict on a WebApp: problems refuse it, warnings let it pass with a remark. */
export interface Verdict {
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** The name becomes that of a Service, which is stricter than other names. */
const SERVICE_NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const MAX_NAME_LENGTH = 63

const SCHEMA = objectSchema(WebAppCrd, 'v1')

/**
 * Checks a WebApp against its schema and the rules that a schema cannot express. All problems are reported together.
 *
 * @example
 * const { problems, warnings } = validateWebApp(webapp)
 */
export function validateWebApp(webapp: WebApp): Verdict {
  // The status is the operator's own, and the API server checks it when it is written.
  const { status: _status, ...given } = webapp
  const shape = validate(SCHEMA, given)
  const warnings: Problem[] = []
  // Rules only check values of the right type: one mistake, one message.
  const isSound = (field: string) =>
    !shape.some((problem) => problem.field === 'spec' || problem.field.startsWith(field))
  const problems = [
    ...checkName(webapp.metadata.name),
    ...shape,
    ...(isSound('spec.image') ? checkImage(webapp.spec.image, warnings) : []),
    ...(isSound('spec.env') ? checkContainerEnv(webapp.spec.env ?? []) : []),
  ]
  return { problems, warnings }
}

function checkName(name = ''): readonly Problem[] {
  if (name.length <= MAX_NAME_LENGTH && SERVICE_NAME.test(name)) return []
  return [
    {
      field: 'metadata.name',
      message:
        `"${name.slice(0, MAX_NAME_LENGTH)}" cannot name a Service: use at most ${MAX_NAME_LENGTH} lower-case letters, ` +
        'digits and dashes, starting with a letter',
    },
  ]
}

function checkImage(image: string, warnings: Problem[]): readonly Problem[] {
  const field = 'spec.image'
  const version = imageVersion(image)
  if (version === undefined) {
    return [
      { field, message: `"${image}" is not an image reference: write it like nginx:1.29 or host/team/app@sha256:…` },
    ]
  }
  const { tag, digest } = version
  if (tag === undefined && digest === undefined) {
    return [{ field, message: `"${image}" has neither tag nor digest: say which version to run, such as ${image}:1.0` }]
  }
  if (tag === 'latest' && digest === undefined) {
    const message = 'the tag "latest" can change under a running application: pin a version or a digest'
    warnings.push({ field, message })
  }
  return []
}

function checkContainerEnv(env: NonNullable<WebApp['spec']['env']>): readonly Problem[] {
  return env.flatMap(({ value, valueFrom }, index) =>
    value !== undefined && valueFrom !== undefined
      ? [{ field: `spec.env[${index}]`, message: 'has both value and valueFrom: keep one of them' }]
      : [],
  )
}

/**
 * The WebApp itself, when it is valid.
 *
 * *Errors*: {@link InvalidWebAppError}, for one that was stored before a rule existed or past the webhook.
 */
export function requireValid(webapp: WebApp): WebApp {
  const { problems } = validateWebApp(webapp)
  if (problems.length > 0) throw new InvalidWebAppError(problems)
  return webapp
}
