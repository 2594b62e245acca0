/** `<operator> crd`: the CustomResourceDefinitions of an operator, as `kubectl apply` takes them. */
import { readFile } from 'node:fs/promises'
import type { Operator, WebhookLocation } from '@reeve/runtime/operator'
import { InvalidArgumentError } from 'commander'
import { EXIT, type Subcommand } from './subcommand.ts'

/** The parsed options. */
interface Options {
  readonly namespace?: string
  readonly webhookService?: string
  readonly webhookUrl?: string
  readonly webhookCaFile?: string
}

/**
 * The subcommand.
 *
 * @param name of the operator, for help without importing it
 * @param load imports the operator, when the command runs
 *
 * @example
 * export const command = crdCommand('greeter', async () => (await import('../operator.ts')).greeter)
 */
export function crdCommand(
  name: string,
  load: () => Promise<Pick<Operator<never>, 'name' | 'crds'>>,
): Subcommand<Options> {
  const examples = `
Examples:
  ${name} crd | kubectl apply -f -
  ${name} crd --namespace ${name} | kubectl apply -f -   converted by the operator in that namespace`
  return {
    configure: (cli) =>
      void cli
        .option('--namespace <name>', 'namespace of the operator that converts (default: POD_NAMESPACE)')
        .option('--webhook-service <name>', 'Service in front of its webhooks (default: the name of the operator)')
        .option('--webhook-url <url>', 'address of its webhooks, instead of a Service', httpsUrl)
        .option('--webhook-ca-file <path>', 'PEM file of the authority of its webhooks (default: the operator adds it)')
        .addHelpText('after', examples),
    run: async (options, { env, stdout, stderr }) => {
      const [{ default: yaml }, { ConversionLocationError }, operator] = await Promise.all([
        import('yaml'),
        import('@reeve/runtime/operator'),
        load(),
      ])
      try {
        const crds = operator.crds(await locationOf(options, operator.name, env.POD_NAMESPACE))
        const texts = crds.map((crd) => yaml.stringify(crd, { lineWidth: 110, aliasDuplicateObjects: false }))
        stdout.write(texts.join('---\n'))
        return EXIT.done
      } catch (error) {
        if (!(error instanceof ConversionLocationError)) throw error
        const where = `--namespace <name> for the Service ${options.webhookService ?? operator.name}, or --webhook-url <url>`
        stderr.write(
          `${name}: ${error.crds.join(', ')}: converted by a webhook, whose address is needed: use ${where}\n`,
        )
        return EXIT.usage
      }
    },
  }
}

/** Where the webhooks are; undefined if the options do not say it. */
async function locationOf(
  { namespace, webhookService, webhookUrl, webhookCaFile }: Options,
  operator: string,
  podNamespace: string | undefined,
): Promise<WebhookLocation | undefined> {
  const authority = webhookCaFile === undefined ? {} : { caBundle: await readFile(webhookCaFile, 'utf8') }
  if (webhookUrl !== undefined) return { url: webhookUrl, ...authority }
  const where = namespace ?? podNamespace
  if (where === undefined) return undefined
  return { service: { namespace: where, name: webhookService ?? operator }, ...authority }
}

/** The address of a webhook, as an API server accepts it, without a slash at its end. */
function httpsUrl(value: string): string {
  const url = URL.parse(value)
  if (url?.protocol !== 'https:' || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new InvalidArgumentError('It must be an https URL without user, query and fragment.')
  }
  return url.href.replace(/\/+$/, '')
}
