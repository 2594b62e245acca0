/** Tokens and bodies are never exposed. */
import { inspect } from 'node:util'
import { answer, fixed, startHttps, type WireFixture, wireFixture } from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'
import { Secrets } from './builtin-resources.ts'
import { createClient } from './create-client.ts'

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

describe('secrets', () => {
  it('appear in no error, hook or log, however the server responds', async () => {
    const token = 'token-hunter2'
    const password = 'body-hunter2'
    let turn = 0
    await using server = await startHttps(wire.pair, (request, response) => {
      switch (turn++) {
        case 0:
          return request.socket.destroy()
        case 1:
          return answer(response, 400, {
            kind: 'Status',
            code: 400,
            message: `cannot decode {"password":"${password}"}`,
          })
        case 2:
          return response.writeHead(502, { 'content-type': 'text/html' }).end(`<p>${token} ${password}</p>`)
        case 3:
          return response.writeHead(200, { 'content-type': 'application/json' }).end(`{"data": "${password}`)
        default:
          return answer(response, 422, { kind: 'Status', details: { causes: [{ field: 'data', message: password }] } })
      }
    })
    const told: unknown[] = []
    const client = createClient({
      config: wire.configOf(server, { credentials: fixed({ authorization: `Bearer ${token}` }) }),
      retries: { maxRetries: 0 },
      onRequest: (report) => told.push(report),
      onWarning: (warning) => told.push(warning),
      logger: { debug: (...line) => told.push(line), warn: (...line) => told.push(line) },
    })
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'a', name: 'b' },
      stringData: { password },
    }
    for (let request = 0; request < 5; request++) {
      const error = await client.update(Secrets, secret).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(Error)
      told.push(everythingAbout(error))
    }
    await client.close()
    expect(told.length).toBeGreaterThan(10)
    expect(JSON.stringify(told)).not.toMatch(/hunter2/)
  })
})

/** Message, stack, own properties and causes of an error. */
function everythingAbout(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return [String(error), error.stack, inspect(error, { depth: 6, showHidden: true }), everythingAbout(error.cause)]
}
