/** The command line of the operator: one file per command, loaded when it is used. */
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }

/** Exit codes beyond 0 (done) and 1 (failed). */
const USAGE = 64

/**
 * Runs a command and answers with the exit code of the process.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export async function main(argv: readonly string[]): Promise<number> {
  let code = 0
  const program = new Command('webapp-operator')
    .description('Runs web applications from WebApp resources, each as a Deployment and a Service.')
    .version(manifest.version)
    .exitOverride()
    .showHelpAfterError('(webapp-operator --help shows what there is)')
    .addHelpText(
      'after',
      `
Examples:
  webapp-operator run                      with the current context of your kubeconfig, or inside a cluster
  webapp-operator run --leader-elect       one of several replicas
  webapp-operator validate -f webapp.yaml  what the webhook would say, without a cluster
  webapp-operator crd | kubectl apply -f - install the CustomResourceDefinition`,
    )
  program
    .command('run')
    .description('watch WebApps and keep them running until SIGTERM')
    .option('--kubeconfig <path>', 'how to reach the cluster (default: KUBECONFIG, the pod, or ~/.kube/config)')
    .option('--watch-namespace <name>', 'watch this namespace only; may be repeated', append, [])
    .option('--concurrency <count>', 'WebApps worked on at the same time', positiveInteger, 10)
    .option('--leader-elect', 'take part in the election of a leader', false)
    .option('--lease-namespace <name>', 'namespace of the Lease (default: POD_NAMESPACE, or default)')
    .option('--health-port <port>', 'port of /healthz, /readyz and /metrics', port, 8080)
    .option('--webhook', 'serve the admission webhooks', false)
    .option('--webhook-port <port>', 'port of the webhooks', port, 9443)
    .option('--webhook-service <name>', 'Service in front of the webhooks', 'webapp-operator')
    .option('--webhook-configuration <name>', 'webhook configurations whose CA bundle is kept right', 'webapp-operator')
    .option(
      '--webhook-secret <name>',
      'Secret that holds the operator’s own certificate',
      'webapp-operator-certificate',
    )
    .option('--webhook-cert-dir <path>', 'folder with tls.crt and tls.key instead of an own certificate')
    .option('--log-level <level>', 'debug, info, warn or error', 'info')
    .action(async (options) => {
      const { run } = await import('./run.ts')
      code = await run(options, process.env)
    })
  program
    .command('validate')
    .description('check WebApps in a file: exit code 1 when one would be refused')
    .requiredOption('-f, --filename <path>', 'a YAML or JSON file with one or more objects; - for standard input')
    .option('-o, --output <format>', 'text or json', 'text')
    .action(async (options) => {
      const { validateFile } = await import('./validate-file.ts')
      code = await validateFile(options, (line) => console.log(line))
    })
  program
    .command('crd')
    .description('print the CustomResourceDefinition')
    .action(async () => {
      const [{ crdYaml }, { WebAppCrd }] = await Promise.all([import('@reeve/crd'), import('../api/webapp.ts')])
      process.stdout.write(crdYaml(WebAppCrd))
    })
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
    console.error(`webapp-operator: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
  return code
}

function append(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value]
}

function positiveInteger(value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) {
    throw new InvalidArgumentError('It must be a whole number above 0.')
  }
  return number
}

function port(value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 0 || number > 65535) {
    throw new InvalidArgumentError('It must be a port between 0 and 65535.')
  }
  return number
}
