import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { InjectedManifest } from './inject-manifests.ts'
import { runCli } from './testing/run-cli.ts'

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
    - {name: app, image: php:fpm}
    - {name: side, image: envoy}
  initContainers:
    - {name: prepare, image: busybox}
`
const DYNAKUBE = `apiVersion: dynatrace.com/v1beta6
kind: DynaKube
metadata: {name: dynakube, namespace: dynatrace}
spec:
  apiUrl: https://abc12345.live.dynatrace.com/api
  oneAgent: {cloudNativeFullStack: {}}
`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-inject-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function inject(stdin: string, dynakube = DYNAKUBE, flags: readonly string[] = [], env = {}) {
  const file = join(folder, 'dynakube.yaml')
  await writeFile(file, dynakube)
  return runCli(['inject', '-f', '-', '--dynakube', file, ...flags], { stdin, env })
}

async function explained(stdin: string, dynakube = DYNAKUBE) {
  const { code, stdout } = await inject(stdin, dynakube, ['-o', 'json'])
  // The output that is under test.
  const { pods, problems } = JSON.parse(stdout) as { pods: InjectedManifest[]; problems: string[] }
  return { code, problems, pod: pods[0] }
}
const codeModulesOf = (pod: InjectedManifest | undefined, container: string) =>
  pod?.containers.find(({ name }) => name === container)?.verdicts.codeModules

const annotated = (annotation: string) =>
  POD.replace('namespace: shop', `namespace: shop, annotations: {${annotation}}`)

describe('inject', () => {
  it('explains each container and shows the changes', async () => {
    const { code, stdout } = await inject(annotated('container.inject.dynatrace.com/side: "false"'))
    expect(code).toBe(0)
    const [title, ...lines] = stdout.split('\n')
    expect(title).toBe('Pod shop/web would be injected by DynaKube dynatrace/dynakube')
    const after = (line: string) => lines[lines.indexOf(line) + 1]
    expect(after('  container app')).toMatch(/code modules +yes .*\[DynaKube spec\.oneAgent\.cloudNativeFullStack\]/)
    expect(after('  container side')).toMatch(
      /no .*\[Pod metadata\.annotations\[container\.inject\.dynatrace\.com\/side\]\]/,
    )
    expect(after('  init container prepare')).toMatch(/no .*\[Pod spec\.initContainers\]/)
    expect(stdout).toMatch(/\+ spec\.initContainers\[name=dynatrace-operator\]/)
    expect(stdout).toMatch(/note: the Namespace shop is not in the files/)
  })

  it('prints the pod as it would be', async () => {
    const { stdout } = await inject(POD, DYNAKUBE, ['-o', 'yaml', '--image', 'operator:1'])
    const { spec, metadata } = parse(stdout)
    expect(spec.initContainers[1]).toMatchObject({ name: 'dynatrace-operator', image: 'operator:1' })
    expect(metadata.annotations).toMatchObject({ 'dynakube.dynatrace.com/injected': 'true' })
  })

  it.each([
    ['the master switch', annotated('dynatrace.com/inject: "false"'), 'Pod metadata.annotations[dynatrace.com/inject]'],
    [
      'the switch of the feature',
      annotated('oneagent.dynatrace.com/inject: "false"'),
      'Pod metadata.annotations[oneagent.dynatrace.com/inject]',
    ],
    [
      'a container that has the mount already',
      POD.replace(
        'image: php:fpm',
        'image: php:fpm, volumeMounts: [{name: v, mountPath: /opt/dynatrace/oneagent-paas}]',
      ),
      'Pod spec.containers[name=app].volumeMounts[mountPath=/opt/dynatrace/oneagent-paas]',
    ],
    [
      'a namespace of the platform',
      POD.replace('shop', 'kube-system'),
      'DynaKube metadata.annotations[feature.dynatrace.com/ignored-namespaces]',
    ],
    [
      'a label for another DynaKube',
      `${POD}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {dynakube.internal.dynatrace.com/instance: other}}\n`,
      'Namespace metadata.labels[dynakube.internal.dynatrace.com/instance]',
    ],
  ])('names what decides: %s', async (_, pod, decidedBy) => {
    const { code, pod: explanation } = await explained(pod)
    expect(code).toBe(0)
    expect(codeModulesOf(explanation, 'app')).toMatchObject({ isOn: false, decidedBy })
  })

  it.each([
    [
      'a selector that does not match',
      DYNAKUBE.replace(
        '{cloudNativeFullStack: {}}',
        '{cloudNativeFullStack: {namespaceSelector: {matchLabels: {team: a}}}}',
      ),
      'DynaKube spec.oneAgent.cloudNativeFullStack.namespaceSelector',
    ],
    [
      'automatic injection that is off',
      DYNAKUBE.replace(
        'namespace: dynatrace',
        'namespace: dynatrace, annotations: {feature.dynatrace.com/automatic-injection: "false"}',
      ),
      'DynaKube metadata.annotations[feature.dynatrace.com/automatic-injection]',
    ],
    [
      'a DynaKube that does not inject',
      DYNAKUBE.replace('cloudNativeFullStack', 'hostMonitoring'),
      'DynaKube spec.oneAgent',
    ],
    ['a status without a version', `${DYNAKUBE}status: {phase: Deploying}\n`, 'DynaKube status.codeModules'],
  ])('names what decides in the DynaKube: %s', async (_, dynakube, decidedBy) => {
    expect(codeModulesOf((await explained(POD, dynakube)).pod, 'app')).toMatchObject({ isOn: false, decidedBy })
  })

  it('takes labels and annotations of a namespace from the files', async () => {
    const selecting = DYNAKUBE.replace(
      '{cloudNativeFullStack: {}}',
      '{cloudNativeFullStack: {namespaceSelector: {matchLabels: {team: a}}}}',
    )
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n'
    const { pod } = await explained(`${POD}---\n${namespace}`, selecting)
    expect(pod?.outcome).toBe('injected')
  })

  it('understands workloads, and DynaKubes in older versions', async () => {
    const job = `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: app, image: a}]}}}}}
`
    const old = `${DYNAKUBE.replace('v1beta6', 'v1beta4')}  metadataEnrichment: {enabled: true}\n`
    const { pod } = await explained(job, old)
    expect(pod?.source).toBe('CronJob shop/nightly')
    expect(JSON.stringify(pod)).toContain('--attribute=k8s.workload.kind=cronjob')
  })

  it('explains a running pod that has been injected, and repeats the reasons that it carries', async () => {
    const { stdout } = await inject(POD, DYNAKUBE, ['-o', 'yaml'])
    const { pod } = await explained(stdout)
    expect(pod?.outcome).toBe('unchanged')
    expect(codeModulesOf(pod, 'app')).toMatchObject({ isOn: true, because: expect.stringContaining('already') })
    const failed = annotated(
      'dynakube.dynatrace.com/injected: "false", dynakube.dynatrace.com/reason: NoBootstrapperConfig',
    )
    expect((await explained(failed)).pod?.recorded).toEqual({ 'dynakube.dynatrace.com/reason': 'NoBootstrapperConfig' })
  })

  it('follows the installed modules, and OpenShift on demand', async () => {
    const env = { 'modules.json': '{}' }
    const { stdout } = await inject(POD, DYNAKUBE, ['-o', 'yaml', '--openshift'], env)
    const { spec } = parse(stdout)
    expect(spec.volumes[0]).toEqual({ name: 'oneagent-bin', emptyDir: {} })
    expect(spec.initContainers[1].securityContext).not.toHaveProperty('runAsUser')
  })

  it.each([
    ['no pod', DYNAKUBE, DYNAKUBE, /neither a Pod nor a workload/],
    ['no DynaKube', POD, POD, /do not contain a DynaKube/],
    [
      'a pod that cannot be read',
      POD.replace('php:fpm', '[1]'),
      DYNAKUBE,
      /spec\.containers\[0\]\.image must be a string/,
    ],
    ['a DynaKube that the schema rejects', POD, DYNAKUBE.replace('https', '5 #'), /spec\.apiUrl must be a string/],
    ['broken YAML', 'a: [1', DYNAKUBE, /<stdin>:1:6/],
  ])('exits 1 and says what is wrong with %s', async (_, pod, dynakube, message) => {
    const { code, stdout, stderr } = await inject(pod, dynakube)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
  })
})
