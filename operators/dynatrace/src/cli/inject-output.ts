/** Prints what injection would do to pods. */
import { styleText } from 'node:util'
import { type CommandContext, EXIT } from '@reeve/cli'
import { fieldDiff } from '@reeve/plan'
import { stringify } from 'yaml'
import type { FeatureName } from '../webhooks/pods/annotations.ts'
import type { Verdicts } from '../webhooks/pods/explain.ts'
import type { InjectedManifest, InjectionReport } from './inject-manifests.ts'

const FEATURE_TITLES: Readonly<Record<FeatureName, string>> = {
  codeModules: 'code modules',
  enrichment: 'metadata',
  exporter: 'OTLP exporter',
}

const OUTCOMES = {
  injected: 'would be injected',
  updated: 'is injected, and would get what new containers need',
  unchanged: 'would not change',
  skipped: 'would be ignored',
  notInjected: 'would not be injected, with the reason in annotations',
} as const

type Paint = (colour: Parameters<typeof styleText>[0], text: string) => string

/** Prints the report, and returns the exit code. */
export function printInjections(
  { pods, problems }: InjectionReport,
  output: 'text' | 'json' | 'yaml',
  { stdout, stderr }: Pick<CommandContext, 'stdout' | 'stderr'>,
): number {
  if (output === 'json') {
    stdout.write(`${JSON.stringify({ pods: pods.map(asDocument), problems }, null, 2)}\n`)
  } else {
    for (const problem of problems) stderr.write(`error: ${problem}\n`)
    const paint: Paint = (colour, text) =>
      stdout.hasColors ? styleText(colour, text, { validateStream: false }) : text
    const texts = pods.map((pod) => (output === 'yaml' ? yamlOf(pod.after) : textOf(pod, paint)))
    stdout.write(texts.join(output === 'yaml' ? '---\n' : '\n'))
  }
  return problems.length === 0 ? EXIT.done : EXIT.failed
}

const yamlOf = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })

function asDocument({ before, after, ...rest }: InjectedManifest): object {
  return { ...rest, changes: fieldDiff(before, after), result: after }
}

function textOf(injected: InjectedManifest, paint: Paint): string {
  const { source, dynakube, outcome, features, containers, before, after, notes, recorded } = injected
  const changes = fieldDiff(before, after)
  const lines = [
    paint('bold', `${source} ${OUTCOMES[outcome]} by DynaKube ${dynakube}`),
    ...verdictLines(features, paint),
    ...containers.flatMap(({ type, name, verdicts }) => [
      `  ${type} ${name}`,
      ...verdictLines(verdicts, paint, '    '),
    ]),
    ...(changes.length > 0 ? ['  changes'] : []),
    ...changes.map(({ path, before: was, after: is }) => `    ${changeText(path, was, is, paint)}`),
    ...Object.entries(recorded).map(([key, reason]) => `  recorded by the webhook: ${key}: ${reason}`),
    ...notes.map((note) => paint('gray', `  note: ${note}`)),
  ]
  return `${lines.join('\n')}\n`
}

function verdictLines(verdicts: Verdicts, paint: Paint, indent = '  '): readonly string[] {
  const width = Math.max(...Object.values(FEATURE_TITLES).map(({ length }) => length))
  // The keys of the table of titles are the features.
  const features = Object.keys(FEATURE_TITLES) as FeatureName[]
  return features.map((feature) => {
    const { isOn, because, decidedBy } = verdicts[feature]
    const answer = isOn ? paint('green', 'yes') : paint('yellow', 'no ')
    return `${indent}${FEATURE_TITLES[feature].padEnd(width)}  ${answer}  ${because} ${paint('gray', `[${decidedBy}]`)}`
  })
}

/** Longer values are cut: `-o yaml` shows them. */
const MAX_VALUE = 120

function shortJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

function changeText(path: string, was: unknown, is: unknown, paint: Paint): string {
  if (was === undefined) return paint('green', `+ ${path}: ${shortJson(is)}`)
  if (is === undefined) return paint('red', `- ${path}: ${shortJson(was)}`)
  return paint('yellow', `~ ${path}: ${shortJson(was)} → ${shortJson(is)}`)
}
