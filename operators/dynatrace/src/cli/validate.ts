/** `dynatrace-operator validate`: what the webhook would say about files, for CI pipelines and editors. */
import { styleText } from 'node:util'
import { addFileOption, addOutputOption, type FileOptions } from './file-options.ts'
import type { Finding, Review } from './review-manifests.ts'
import { type CommandContext, EXIT, type Subcommand, type TextSink } from './subcommand.ts'

interface ValidateOptions extends FileOptions {
  readonly output: 'text' | 'json'
}

/** The subcommand. */
export const command: Subcommand<ValidateOptions> = {
  configure: (program) =>
    addOutputOption(addFileOption(program))
      .description(
        [
          'Says about DynaKubes and EdgeConnects in files what a cluster with the operator would say: schema, unknown fields, and all rules of admission, in every served version, each with its place in the file.',
          'No cluster is asked.',
          'Rules that need one are checked against the other objects in the files, and a note says so.',
          'The environment variable modules.json tells which parts of the operator are installed, as in the operator itself; by default all are.',
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

Exit code 1 tells that something would be refused; warnings and notes alone give 0.`,
      ),
  run: validate,
}

async function validate({ filename, output }: ValidateOptions, context: CommandContext): Promise<number> {
  const [{ readManifests }, { reviewManifests }, { MODULES_VARIABLE, parseModules }] = await Promise.all([
    import('./manifest-file.ts'),
    import('./review-manifests.ts'),
    import('../api/validation/modules.ts'),
  ])
  const manifests = await readManifests(filename, context.readStdin)
  const review = await reviewManifests(manifests, parseModules(context.env[MODULES_VARIABLE]))
  if (output === 'json') context.stdout.write(`${JSON.stringify(review, null, 2)}\n`)
  else printText(review, context.stdout)
  return review.findings.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.done
}

const COLOURS = { error: 'red', warning: 'yellow', note: 'gray' } as const

/** One line per finding, in the form that editors and CI systems recognise. */
function printText({ checked, skipped, findings }: Review, stdout: TextSink): void {
  for (const { file, line, column, severity, object, rule, message } of findings) {
    const label = stdout.isTTY ? styleText(COLOURS[severity], severity, { validateStream: false }) : severity
    const subject = object === undefined ? '' : `${object}: `
    stdout.write(`${file}:${line}:${column}: ${label}: ${subject}${message.trim()} [${rule}]\n`)
  }
  const count = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity).length
  const parts = [
    `${plural(checked, 'resource')} checked`,
    plural(count('error'), 'error'),
    plural(count('warning'), 'warning'),
    ...(skipped > 0 ? [`${plural(skipped, 'object')} of other kinds skipped`] : []),
  ]
  stdout.write(`${parts.join(', ')}\n`)
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
