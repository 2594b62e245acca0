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
  const program = new Command('collector-operator')
    .description('Keeps one Helm release per Collector resource.')
    .version(manifest.version)
    .exitOverride()
    .showHelpAfterError('(collector-operator --help shows what there is)')
    .addHelpText(
      'after',
      `
Examples:
  collector-operator run --settings settings.yaml    with the current context of your kubeconfig, or inside a cluster
  collector-operator validate -f collector.yaml      what the webhook would say, without a cluster
  collector-operator crd | kubectl apply -f -        install the CustomResourceDefinition`,
    )
  program
    .command('run')
    .description('watch Collectors and keep their releases until SIGTERM')
    .requiredOption('--settings <path>', 'YAML file with the chart sources of each cluster')
    .option('--kubeconfig <path>', 'how to reach the cluster (default: KUBECONFIG, the pod, or ~/.kube/config)')
    .option('--namespace <name>', 'look after the Collectors of this namespace only (default: all)')
    .option('--chart-cache <path>', 'folder for charts that were downloaded (default: a temporary one)')
    .option('--concurrency <count>', 'Collectors worked on at the same time', positiveInteger, 10)
    .option('--helm-concurrency <count>', 'helm processes at the same time', positiveInteger, 4)
    .option('--helm-timeout <seconds>', 'deadline of one helm command', positiveInteger, 120)
    .option('--leader-elect', 'take part in the election of a leader', false)
    .option('--lease-namespace <name>', 'namespace of the Lease (default: POD_NAMESPACE, or default)')
    .option('--health-port <port>', 'port of /healthz, /readyz and /metrics', port, 8080)
    .option('--webhook', 'serve the validating webhook', false)
    .option('--webhook-port <port>', 'port of the webhook', port, 9443)
    .option('--webhook-service <name>', 'Service in front of the webhook', 'collector-operator')
    .option(
      '--webhook-configuration <name>',
      'webhook configuration whose CA bundle is kept right',
      'collector-operator',
    )
    .option('--webhook-secret <name>', 'Secret that holds the certificate', 'collector-operator-certificate')
    .option('--log-level <level>', 'debug, info, warn or error', 'info')
    .action(async (options) => {
      const { run } = await import('./run.ts')
      code = await run(options, process.env)
    })
  program
    .command('validate')
    .description('check Collectors in a file: exit code 1 when one would be refused')
    .requiredOption('-f, --filename <path>', 'a YAML or JSON file with one or more objects; - for standard input')
    .option('--settings <path>', 'settings of the operator: makes spec.cluster be checked, too')
    .option('-o, --output <format>', 'text or json', 'text')
    .action(async (options) => {
      const { validateFile } = await import('./validate-file.ts')
      code = await validateFile(options, (line) => console.log(line))
    })
  program
    .command('crd')
    .description('print the CustomResourceDefinition')
    .action(async () => {
      const [{ crdYaml }, { CollectorCrd }] = await Promise.all([import('@reeve/crd'), import('../api/collector.ts')])
      process.stdout.write(crdYaml(CollectorCrd))
    })
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
    console.error(`collector-operator: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
  return code
}

function positiveInteger(value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return number
}

function port(value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 0 || number > 65535) {
    throw new InvalidArgumentError('It must be a port between 0 and 65535.')
  }
  return number
}
