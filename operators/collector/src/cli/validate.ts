/** `collector-operator validate`: validates files as the webhook would, for CI pipelines and editors. */
import { readFile } from 'node:fs/promises'
import { addFileOption, addOutputOption, type FileOptions, type OutputOptions, type Subcommand } from '@reeve/cli'
import type { ValidationRules } from '../validate-collector.ts'

interface ValidateOptions extends FileOptions, OutputOptions {
  readonly settings?: string
}

const EXAMPLES = `
Examples:
  collector-operator validate -f collector.yaml --settings settings.yaml
  kubectl get collectors -A -o yaml | collector-operator validate -f -
  collector-operator validate -f tenants/*.yaml -o json | jq '.findings[].message'

Exits 1 if anything would be rejected.`

/** The subcommand. */
export const command: Subcommand<ValidateOptions> = {
  configure: (cli) =>
    void addOutputOption(addFileOption(cli))
      .option('--settings <path>', 'settings of the operator, to check spec.cluster, accounts and charts too')
      .addHelpText('after', EXAMPLES),
  run: async ({ filename, output, settings }, { readStdin, stdout }) => {
    const [{ printReview, readManifests, reviewKind }, { Collectors }, { completeCollector, validateCollector }] =
      await Promise.all([
        import('@reeve/cli/manifests'),
        import('../api/collector.ts'),
        import('../validate-collector.ts'),
      ])
    const rules = settings === undefined ? {} : await rulesIn(settings)
    const manifests = await readManifests(filename, readStdin)
    const review = reviewKind(manifests, Collectors, (collector) => ({
      problems: validateCollector(completeCollector(collector), rules),
    }))
    return printReview(review, output, stdout)
  },
}

async function rulesIn(settings: string): Promise<ValidationRules> {
  const [{ parseSettings }, { validationRules }] = await Promise.all([
    import('../settings.ts'),
    import('../validate-collector.ts'),
  ])
  return validationRules(parseSettings(await readFile(settings, 'utf8')))
}
