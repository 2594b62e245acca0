/** `dynatrace-operator inject`: what the webhook would do to pods, and why, without a cluster. */
import { addFileOption, append, type CommandContext, type FileOptions, type Subcommand } from '@reeve/cli'
import { Option } from 'commander'

/** What the command line says. */
export interface InjectFlags extends FileOptions {
  readonly dynakube: readonly string[]
  readonly output: 'text' | 'json' | 'yaml'
  readonly openshift: boolean
  readonly image: string
}

const EXAMPLES = `
Examples:
  dynatrace-operator inject -f pod.yaml --dynakube dynakube.yaml
  dynatrace-operator inject -f deployment.yaml -f namespace.yaml --dynakube dynakube.yaml
  kubectl get pod web-1 -o yaml | dynatrace-operator inject -f - --dynakube dynakube.yaml
  dynatrace-operator inject -f pod.yaml --dynakube dynakube.yaml -o json | jq '.pods[].containers'

Exits 0 when all pods are explained, injected or not, and 1 when a file cannot be used.`

/** The subcommand. */
export const command: Subcommand<InjectFlags> = {
  configure: (cli) =>
    void addFileOption(cli)
      .description(
        [
          'Shows what the webhook would change in pods, and says for each container which annotation, label or field decides that it is injected or not.',
          'Files may contain pods, workloads with a pod template, and the namespaces of both; a pod of a running cluster works as well.',
          'No cluster is contacted: what is not in the files is assumed, with a note.',
          'The environment variable modules.json says whether the CSI driver is installed, as in the webhook itself; by default it is.',
        ].join(' '),
      )
      .requiredOption('--dynakube <path>', 'file with one or more DynaKubes; may be repeated', append, [])
      .addOption(
        new Option('-o, --output <format>', 'text explains and shows changes; yaml prints the pods only')
          .choices(['text', 'json', 'yaml'])
          .default('text'),
      )
      .option('--openshift', 'assume OpenShift, which assigns user IDs itself', false)
      .option('--image <image>', 'image of the init container', 'dynatrace-operator')
      .addHelpText('after', EXAMPLES),
  run: inject,
}

async function inject(flags: InjectFlags, context: CommandContext): Promise<number> {
  const [{ readManifests }, { injectManifests }, { printInjections }] = await Promise.all([
    import('@reeve/cli/manifests'),
    import('./inject-manifests.ts'),
    import('./inject-output.ts'),
  ])
  const { MODULES_VARIABLE, parseModules } = await import('../api/validation/modules.ts')
  const manifests = await readManifests([...flags.filename, ...flags.dynakube], context.readStdin)
  const report = injectManifests(manifests, {
    image: flags.image,
    isOpenShift: flags.openshift,
    hasCsiDriver: parseModules(context.env[MODULES_VARIABLE]).csiDriver,
  })
  return printInjections(report, flags.output, context)
}
