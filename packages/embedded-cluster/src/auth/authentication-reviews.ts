/** The review APIs of authentication.k8s.io: the user of a token, and the requesting user. */

import { badRequest } from '../api/api-errors.ts'
import { authenticated, type UserInfo } from '../api/user.ts'
import { type Clock, timestamp } from '../clock.ts'
import { arrayAt, type JsonObject, objectAt, stringAt } from '../json.ts'
import type { Review, ReviewRequest } from './access-reviews.ts'
import type { Authenticator } from './authenticate.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

const API_VERSION = 'authentication.k8s.io/v1'

/** Dependencies of the reviews. */
export interface AuthenticationReviewOptions {
  readonly authenticator: Authenticator
  readonly serviceAccountTokens: ServiceAccountTokens
  readonly clock: Clock
}

/** The review handlers by resource. */
export function authenticationReviews(options: AuthenticationReviewOptions): ReadonlyMap<string, Review> {
  return new Map<string, Review>([
    ['tokenreviews.authentication.k8s.io', (object) => reviewToken(options, object)],
    ['selfsubjectreviews.authentication.k8s.io', (_, request) => reviewSelf(options, request)],
  ])
}

function reviewToken(options: AuthenticationReviewOptions, object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec')
  const token = stringAt(spec, 'token') ?? ''
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  const asked = arrayAt(spec, 'audiences').map(String)
  const { serviceAccountTokens, authenticator } = options
  const audiences = asked.length === 0 ? serviceAccountTokens.audiences : asked
  const verified = serviceAccountTokens.verify(token, audiences)
  // Static tokens have no audience: they are only for the API server.
  const isForServer = audiences.some((audience) => serviceAccountTokens.audiences.includes(audience))
  const fixed = verified === undefined && isForServer ? authenticator.verify(token) : undefined
  const user = verified?.user ?? (fixed === undefined ? undefined : authenticated(fixed))
  const matching =
    verified?.audiences ?? audiences.filter((audience) => serviceAccountTokens.audiences.includes(audience))
  return {
    ...object,
    kind: 'TokenReview',
    apiVersion: API_VERSION,
    metadata: objectAt(object, 'metadata'),
    status:
      user === undefined
        ? { user: {}, error: refusal(serviceAccountTokens.audiencesOf(token), audiences) }
        : { authenticated: true, user: showUser(user), audiences: [...matching] },
  }
}

/** The error of an invalid token; one for another audience is distinguished. */
function refusal(meant: readonly string[] | undefined, wanted: readonly string[]): string {
  if (meant === undefined || meant.some((audience) => wanted.includes(audience))) return 'invalid bearer token'
  const list = (audiences: readonly string[]) => `[${audiences.map((one) => JSON.stringify(one)).join(' ')}]`
  const why = `token audiences ${list(meant)} is invalid for the target audiences ${list(wanted)}`
  return `[invalid bearer token, ${why}]`
}

function reviewSelf({ clock }: AuthenticationReviewOptions, { user }: ReviewRequest): JsonObject {
  return {
    kind: 'SelfSubjectReview',
    apiVersion: API_VERSION,
    metadata: { creationTimestamp: timestamp(clock.now()) },
    status: { userInfo: showUser(user) },
  }
}

function showUser(user: UserInfo): JsonObject {
  return {
    username: user.username,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: [...user.groups],
    ...(user.extra === undefined
      ? {}
      : { extra: Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]])) }),
  }
}
