/** The chart of the projects that `reeve init` writes; the template is itself such a project. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findClientBinary, type RenderedChart, renderChart } from '@reeve/client-binaries'
import type { Deployment } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { absolutePath } from '../src/generated-files.ts'

const helm = await findClientBinary('helm')

const render = (folder: string, release: string, values: object = {}): Promise<RenderedChart> =>
  renderChart(absolutePath(folder), { helm: helm ?? '', release, namespace: 'ops', values })

/** What the objects of the console do, with the same name for both operators. */
function consoleObjects({ objects }: RenderedChart, operator: string): unknown {
  const own = objects.filter(({ metadata }) => metadata.name?.includes('-console'))
  const parts = own.map(({ kind, metadata: { name }, rules, roleRef, subjects, spec }) => {
    const { selector: _, ...rest } = (spec ?? {}) as { readonly selector?: object }
    return { kind, name, rules, roleRef, subjects, spec: rest }
  })
  return JSON.parse(JSON.stringify(parts).replaceAll(operator, 'operator'))
}

describe.skipIf(helm === undefined)('the chart of a generated project (skipped without helm)', () => {
  const chart = (values?: object) => render('packages/cli/template/chart', 'sprocket-operator', values)
  const podOf = ({ objects }: RenderedChart) =>
    // The kind decides it.
    (objects.find(({ kind }) => kind === 'Deployment') as Deployment | undefined)?.spec?.template

  it('registers webhooks of the types that the operator has', async () => {
    const registered = ({ objects }: RenderedChart) =>
      objects.filter(({ kind }) => kind?.endsWith('WebhookConfiguration')).map(({ kind, webhooks }) => [kind, webhooks])
    const folder = await mkdtemp(join(tmpdir(), 'reeve-chart-'))
    try {
      await cp(absolutePath('packages/cli/template/chart'), folder, { recursive: true })
      const file = join(folder, 'files/webhooks.yaml')
      const text = await readFile(file, 'utf8')
      const [[kind, webhooks] = []] = registered(await chart())
      expect([kind, JSON.stringify(webhooks)]).toEqual([
        'ValidatingWebhookConfiguration',
        expect.stringContaining('"namespace":"ops"'),
      ])
      await writeFile(file, text.replace('mutating: []', '').replace('validating:', 'mutating:'))
      const changed = await renderChart(folder, { helm: helm ?? '', release: 'sprocket-operator', namespace: 'ops' })
      expect(registered(changed)).toEqual([['MutatingWebhookConfiguration', webhooks]])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('has no console by default', async () => {
    const plain = await chart()
    expect(plain.objects.map(({ metadata }) => metadata.name).filter((name) => name?.includes('console'))).toEqual([])
    expect(JSON.stringify(podOf(plain))).not.toContain('console')
  })

  it('serves the console as the charts of this repository do', async () => {
    const values = { console: { enabled: true, hostNames: ['console.example.com'] } }
    const [project, webapp] = await Promise.all([
      chart(values),
      render('operators/webapp/chart', 'webapp-operator', values),
    ])
    expect(consoleObjects(project, 'sprocket-operator')).toEqual(consoleObjects(webapp, 'webapp-operator'))
    const [own, other] = [project, webapp].map((one) => podOf(one)?.spec?.containers[0])
    const ofConsole = (args: readonly string[] = []) => args.filter((arg) => arg.startsWith('--console'))
    expect(ofConsole(own?.args).map((arg) => arg.replace('sprocket', 'webapp'))).toEqual(ofConsole(other?.args))
    expect(ofConsole(own?.args)).toHaveLength(4)
    expect(own?.ports).toContainEqual({ name: 'console', containerPort: 8082 })
    const service = project.objects.find(
      ({ kind, spec }) => kind === 'Service' && JSON.stringify(spec).includes('console'),
    )
    expect(service?.spec).toMatchObject({ selector: podOf(project)?.metadata?.labels })
  })
})
