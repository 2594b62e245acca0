/** T9: each request fails once, in each of the ways in which requests fail; and so does each call outside. */
import { DELIVER, PASS, type RequestFate, type SeamCall } from '../world/disturbance.ts'
import { describeRequest } from '../world/request-facts.ts'
import type { Pattern, PatternContext, Point } from './pattern.ts'

const RETRY_AFTER_SECONDS = 3

/** A client waits half a minute for an answer, and what failed is tried again after a back-off: only then it is over. */
const AFTERMATH_MS = 60_000

const REFUSALS: readonly { readonly name: string; readonly fate: RequestFate }[] = [
  { name: '409', fate: { type: 'refuse', code: 409, reason: 'Conflict' } },
  { name: '422', fate: { type: 'refuse', code: 422, reason: 'Invalid' } },
  {
    name: '429',
    fate: { type: 'refuse', code: 429, reason: 'TooManyRequests', retryAfterSeconds: RETRY_AFTER_SECONDS },
  },
  { name: '500', fate: { type: 'refuse', code: 500, reason: 'InternalError' } },
  { name: 'a broken connection', fate: { type: 'reset' } },
]

/** Every request fails once. */
export const failedRequests: Pattern = {
  id: 'T9',
  title: 'failed requests',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const calls = failedCalls(context, world.calls)
    const requests = world.requests.flatMap((failing): readonly Point[] => {
      const refused = REFUSALS.map(({ name, fate }) => ({
        label: `request ${failing.index} (${describeRequest(failing)}) fails with ${name}`,
        run: () =>
          context.disturbed('alone', {
            disturb: ({ world: disturbed, fault, problem }) => {
              let refusedAtMs: number | undefined
              return {
                onRequest: (request) => {
                  if (request.index === failing.index) {
                    fault(`${describeRequest(request)} fails with ${name}`, AFTERMATH_MS)
                    refusedAtMs = disturbed.elapsedMs
                    return fate
                  }
                  const isRepeated = describeRequest(request) === describeRequest(failing)
                  if (
                    name === '429' &&
                    refusedAtMs !== undefined &&
                    isRepeated &&
                    request.instance === failing.instance
                  ) {
                    const waitedMs = disturbed.elapsedMs - refusedAtMs
                    refusedAtMs = undefined
                    if (waitedMs < RETRY_AFTER_SECONDS * 1_000) {
                      problem(
                        `${describeRequest(request)} came back after ${waitedMs} ms, asked for ${RETRY_AFTER_SECONDS} s`,
                      )
                    }
                  }
                  return PASS
                },
              }
            },
          }),
      }))
      const lost = {
        label: `request ${failing.index} (${describeRequest(failing)}) is carried out and its answer never arrives`,
        run: () =>
          context.disturbed('alone', {
            disturb: ({ fault }) => ({
              onResponse: (request) => {
                if (request.index !== failing.index) return DELIVER
                fault(`the answer to ${describeRequest(request)} is lost`, AFTERMATH_MS)
                return { type: 'lose' }
              },
            }),
          }),
      }
      return [...refused, lost]
    })
    return [...requests, ...calls]
  },
}

function failedCalls(context: PatternContext, calls: readonly SeamCall[]): readonly Point[] {
  return calls.flatMap((failing) =>
    (['fail', 'fail-afterwards'] as const).map((fate) => ({
      label: `outside call ${failing.index} (${failing.operation}) fails ${fate === 'fail' ? 'without' : 'after'} its effect`,
      run: () =>
        context.disturbed('alone', {
          disturb: ({ fault }) => ({
            onCall: ({ index, operation }) => {
              if (index !== failing.index) return 'deliver'
              fault(`${operation} fails`, AFTERMATH_MS)
              return fate
            },
          }),
        }),
    })),
  )
}
