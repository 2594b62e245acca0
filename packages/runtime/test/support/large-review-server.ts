/** A process with a webhook server whose responses are large; it reports its port and authority to its parent. */
import { setImmediate } from 'node:timers/promises'
import { CertificateHolder, issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { type WebhookRoute, WebhookRouter, WebhookServer } from '@reeve/runtime/webhooks'

const HOST = '127.0.0.1'
const REQUEST_BYTES = 73_000
const RESPONSE_BYTES = 119_000

/** Responds in a later turn of the event loop, as the conversion of a long list does to let others have their turn. */
const convert: WebhookRoute = {
  path: '/convert',
  async respond(body) {
    await setImmediate()
    return { ...(body as object), converted: 'x'.repeat(RESPONSE_BYTES - REQUEST_BYTES) }
  },
  refuse: (_body, { message }) => ({ message }),
}

// Real sockets check dates against the machine's clock.
const validity = { nowMs: Date.now(), validityMs: 3_600_000 }
const authority = await issueAuthority('test', validity)
const certificates = new CertificateHolder(await issueServing(authority, [HOST], validity))
const server = new WebhookServer(new WebhookRouter([convert]), { certificates, host: HOST, port: 0 })
// It runs until its parent ends the process.
void server.run(new AbortController().signal)
process.send?.({ port: (await server.address()).port, ca: authority.certificate })
