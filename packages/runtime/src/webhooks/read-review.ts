/** Parses reviews within limits, and finds out whose review it is that exceeds them. */
import { JsonLimitError, outlineJson, parseBoundedJson } from '@reeve/http'
import { BadReviewError, type ReviewFailure } from './webhook-route.ts'

/** The review itself is the first level, its request the second: there its uid and kind stand. */
const ENVELOPE_DEPTH = 2

/** A review, or what is needed to reject it. */
export interface ReadReview {
  /** With a failure: only the envelope, without the objects. */
  readonly review: unknown
  readonly failure?: ReviewFailure
}

/**
 * Parses the text of a review.
 *
 * What exceeds the limits is rejected by a denial, not by an HTTP status: under the failure policy `Ignore` the API server
 * would let pass what the webhook could not read.
 *
 * *Errors*: {@link BadReviewError} 400 for what is not JSON, 413 for an envelope that exceeds the limits.
 */
export function readReview(bytes: Uint8Array): ReadReview {
  try {
    return { review: parse(bytes) }
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error
    const message = `the review is rejected: its JSON is ${error.message}`
    return { review: readEnvelope(bytes), failure: { code: 400, reason: 'BadRequest', message } }
  }
}

function readEnvelope(bytes: Uint8Array): unknown {
  try {
    return parse(outlineJson(bytes, ENVELOPE_DEPTH))
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error
    throw new BadReviewError(413, `the body has ${error.message}`)
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseBoundedJson(bytes)
  } catch (error) {
    if (error instanceof JsonLimitError) throw error
    // The parser's message quotes the body, which may hold secrets.
    throw new BadReviewError(400, 'the body is not valid JSON')
  }
}
