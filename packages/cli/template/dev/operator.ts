/** The operator as `npm start` runs it: installs its CRD and a sample first. */
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { openOperatorConsole } from '@reeve/cli/operator-console'
import { CustomResourceDefinitions, connect, isApiError } from '@reeve/kube'
import { createLogger } from '@reeve/runtime/logging'
import { runUntilSignal } from '@reeve/runtime/manager'
import { parse } from 'yaml'
import { operator } from '../src/operator.ts'
import { SprocketResource } from '../src/sprocket.ts'
// webhooks:begin
import { announceWebhooks, registerWebhooks, webhook } from './webhooks.ts'

// webhooks:end

const client = await connect({ fieldManager: operator.name })
const logger = await createLogger({ pretty: true })
// Where conversion webhooks are is known once they listen.
for (const crd of operator.crds({ url: 'https://127.0.0.1' }))
  await client.apply(CustomResourceDefinitions, crd, { force: true })
// webhooks:begin
await announceWebhooks(client)
// webhooks:end
// Its link is printed. The port is one that is free.
const page = { console: true, consoleHost: '127.0.0.1', consolePort: 0 }
const opened = await openOperatorConsole(page, { env: process.env, stderr: process.stderr }, logger)
const created = operator.create({
  client,
  logger,
  ...(opened && { observer: opened.observer }),
  // webhooks:begin
  webhook,
  // webhooks:end
})
process.exitCode = await runUntilSignal(
  async (signal) => {
    await Promise.all([created.manager.run(signal), applySample(signal)])
  },
  { logger },
)
await client.close()

async function applySample(signal: AbortSignal): Promise<void> {
  // webhooks:begin
  await registerWebhooks(client, created, signal)
  // webhooks:end
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const sample = parse(await readFile(new URL('../samples/sprocket.yaml', import.meta.url), 'utf8'))
      // Of any version that is served.
      const resource = { ...SprocketResource, version: String(sample.apiVersion).split('/')[1] ?? '' }
      await client.apply(resource, sample, { force: true, signal })
      return
    } catch (error) {
      // At first the API server may not reach the webhooks. An error in the sample does not end the operator.
      if (!isApiError(error) || error.status < 500 || attempt === 5) {
        logger.error({ file: 'samples/sprocket.yaml', err: error }, 'the sample is not applied')
        return
      }
      await setTimeout(200 * attempt, undefined, { signal })
    }
  }
}
