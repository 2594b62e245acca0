/** `dynatrace-operator validate`: what the webhook would say about files, for CI pipelines and editors. */
import {
  addFileOption,
  addOutputOption,
  type CommandContext,
  type FileOptions,
  type OutputOptions,
  type Subcommand,
} from '@reeve/cli'

type ValidateOptions = FileOptions & OutputOptions

/** The subcommand. */
export const command: Subcommand<ValidateOptions> = {
  configure: (program) =>
    addOutputOption(addFileOption(program))
      .description(
        [
          'Says about DynaKubes and EdgeConnects in files what a cluster with the operator would say: schema, unknown fields, and all rules of admission, in every served version, each with its place in the file.',
          'No cluster is contacted.',
          'Rules that need one are checked against the other objects in the files, with a note.',
          'The environment variable modules.json lists which parts of the operator are installed, as for the operator itself; all by default.',
        ].join(' '),
      )
      .addHelpText(
        'after',
        `
Examples:
  dynatrace-operator validate -f dynakube.yaml
  dynatrace-operator validate -f deploy/*.yaml
  kubectl get dynakubes,namespaces,secrets -n dynatrace -o yaml | dynatrace-operator validate -f -
  dynatrace-operator validate -f dynakube.yaml -o json | jq '.findings[] | select(.severity == "error")'

Exits 1 if anything would be rejected, and 0 with warnings and notes only.`,
      ),
  run: validate,
}

async function validate({ filename, output }: ValidateOptions, context: CommandContext): Promise<number> {
  const [{ printReview, readManifests }, { reviewManifests }, { MODULES_VARIABLE, parseModules }] = await Promise.all([
    import('@reeve/cli/manifests'),
    import('./review-manifests.ts'),
    import('../api/validation/modules.ts'),
  ])
  const manifests = await readManifests(filename, context.readStdin)
  const review = await reviewManifests(manifests, parseModules(context.env[MODULES_VARIABLE]))
  return printReview(review, output, context.stdout)
}
