/** Reads the responses of a server from a text, for inputs of fuzz targets. */
import { isRecord } from '../json-record.ts'
import type { ScriptedResponse } from './scripted-sender.ts'

/** The call and the responses to it. */
export interface Script {
  readonly call: string
  readonly answers: readonly ScriptedResponse[]
}

/** More than any call sends requests. */
const MAX_ANSWERS = 20

/**
 * The script in a text such as `{"call": "tokens", "answers": [{"status": 200, "headers": {}, "body": {}}]}`;
 * `undefined` for any other text. A body that is not text is encoded as JSON.
 *
 * @example
 * const script = readScript(text)
 * const sender = new ScriptedSender(...(script?.answers ?? []))
 */
export function readScript(text: string): Script | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value) || typeof value.call !== 'string' || !Array.isArray(value.answers)) return undefined
    const answers = value.answers.filter(isRecord).slice(0, MAX_ANSWERS).map(readResponse)
    return answers.length === 0 ? undefined : { call: value.call, answers }
  } catch {
    // Not JSON, or a body that is nested too deep to be written again.
    return undefined
  }
}

function readResponse({ status, headers, body }: Readonly<Record<string, unknown>>): ScriptedResponse {
  const isStatus = typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599
  const lines = isRecord(headers) ? Object.entries(headers) : []
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? '')
  return {
    status: isStatus ? status : 200,
    // HTTP gives names in lower case and values that are text.
    headers: Object.fromEntries(
      lines.flatMap(([name, line]) => (typeof line === 'string' ? [[name.toLowerCase(), line]] : [])),
    ),
    body: text,
  }
}
