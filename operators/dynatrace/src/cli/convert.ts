/** `dynatrace-operator convert`: files in another version of the API. */
import { addFileOption, type CommandContext, EXIT, type FileOptions, type Subcommand } from '@reeve/cli'

interface ConvertOptions extends FileOptions {
  readonly to: string
}

/** The subcommand. */
export const command: Subcommand<ConvertOptions> = {
  configure: (program) =>
    addFileOption(program)
      .requiredOption('--to <version>', 'v1beta3 to v1beta6 for DynaKubes, v1alpha1 or v1alpha2 for EdgeConnects')
      .description(
        [
          'Prints files with their DynaKubes, or EdgeConnects, in another version, as the conversion webhook would convert them, as YAML.',
          'Documents of other kinds, and those that have the version already, are printed as they are.',
          'Comments in documents that are converted are lost.',
          'Fields that the other version has no place for are reported on standard error.',
        ].join(' '),
      )
      .addHelpText(
        'after',
        `
Examples:
  dynatrace-operator convert -f dynakube.yaml --to v1beta6
  dynatrace-operator convert -f dynakube.yaml --to v1beta6 | kubectl diff -f -
  kubectl get edgeconnects -A -o yaml | dynatrace-operator convert -f - --to v1alpha1

Exits 1 if anything could not be converted; then nothing is printed on standard output.`,
      ),
  run: convert,
}

async function convert({ filename, to }: ConvertOptions, context: CommandContext): Promise<number> {
  const [{ readManifests }, { convertManifests, kindOfVersion }, { API_KINDS }] = await Promise.all([
    import('@reeve/cli/manifests'),
    import('./convert-manifests.ts'),
    import('../api/kinds.ts'),
  ])
  const kind = kindOfVersion(to)
  if (kind === undefined) {
    const known = API_KINDS.map(({ crd }) => `${Object.keys(crd.versions).join(', ')} (${crd.kind})`).join(', ')
    context.stderr.write(`dynatrace-operator: unknown version "${to}"; use ${known}\n`)
    return EXIT.usage
  }
  const { documents, remarks } = convertManifests(await readManifests(filename, context.readStdin), kind, to)
  for (const { file, line, column, severity, message } of remarks) {
    context.stderr.write(`${file}:${line}:${column}: ${severity}: ${message}\n`)
  }
  if (remarks.some(({ severity }) => severity === 'error')) return EXIT.failed
  context.stdout.write(documents.map((document) => withoutMarkers(document.toString())).join('---\n'))
  return EXIT.done
}

/** A document that began with a marker keeps it, and would get a second one here. */
const withoutMarkers = (text: string): string => text.replace(/^---\n/, '')
