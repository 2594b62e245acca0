/** The form and the page of the Dynatrace chart in the apps of Rancher, which reads both from the chart. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { manifestYaml } from '../manifest-yaml.ts'
import { type Setting, settingsOf } from './settings.ts'

/** Which questions are asked only for a certain response to another. */
const ASKED_IF: Readonly<Record<string, string>> = {
  'csidriver.kubeletPath': 'csidriver.enabled=true',
}

/** `questions.yaml` of a chart. */
export function rancherQuestions(chart: string): string {
  return manifestYaml([{ questions: settingsOf(chart).map(question) }])
}

function question({ path, label, group, description, type, options, default: value }: Setting): object {
  const asked = ASKED_IF[path]
  return {
    variable: path,
    label,
    group,
    description,
    type: options === undefined ? RANCHER_TYPES[type] : 'enum',
    ...(options && { options }),
    default: value,
    ...(asked && { show_if: asked }),
  }
}

const RANCHER_TYPES = { boolean: 'boolean', string: 'string', integer: 'int' } as const

/** `app-readme.md` of a chart: what is shown above the form. */
export function rancherReadme(chart: string): string {
  const { description, appVersion }: { description: string; appVersion: string } = parse(
    readFileSync(join(chart, 'Chart.yaml'), 'utf8'),
  )
  return `# Dynatrace operator

${description}.

This chart installs version ${appVersion} of the operator, its webhook and, on every node, its CSI driver. Afterwards create a
Secret with the tokens of your tenant and a DynaKube in the same namespace.

Set the repository of the image to where you pushed it: there is no public one.
`
}
