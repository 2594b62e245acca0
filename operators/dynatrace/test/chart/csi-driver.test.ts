/** The CSI driver in the chart: its DaemonSet, and values files that were written for other charts of the operator. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Container, DaemonSet, UnknownObject } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { SUBCOMMANDS } from '../../src/cli/subcommands.ts'
import { DRIVER_NAME, KUBELET_SOCKET } from '../../src/csi/names.ts'
import { CHART, helmPath } from '../support/render-chart.ts'
import { find, namesOf } from './support/find.ts'
import { NAMESPACE, renderWithoutCrds } from './support/render.ts'

const CSI = 'dynatrace-oneagent-csi-driver'
const OPENSHIFT = ['--api-versions', 'security.openshift.io/v1']
const render = (...values: string[]) => renderWithoutCrds(values)
const podOf = (objects: readonly UnknownObject[]) => {
  // The kind says what it is.
  const daemonSet = find(objects, 'DaemonSet', CSI) as DaemonSet | undefined
  const template = daemonSet?.spec?.template
  const all = [...(template?.spec?.initContainers ?? []), ...(template?.spec?.containers ?? [])]
  const containers = Object.fromEntries(all.map((container) => [container.name, container]))
  return { daemonSet, template, pod: template?.spec, containers }
}
const envOf = (container: Container | undefined) =>
  Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
const hostPathsOf = (objects: readonly UnknownObject[]) =>
  Object.fromEntries((podOf(objects).pod?.volumes ?? []).map(({ name, hostPath }) => [name, hostPath?.path]))

const RESOURCES = { requests: { cpu: '10m', memory: '30Mi' }, limits: { cpu: '20m', memory: '60Mi' } }
const CONTAINER = { securityContext: { runAsUser: 0, privileged: false }, resources: RESOURCES }

/** Every key that a values file may have for the CSI driver, whether it has an effect here or not. */
const EVERY_VALUE = {
  debug: true,
  apparmor: true,
  csidriver: {
    enabled: true,
    nodeSelector: { pool: 'apps' },
    labels: { team: 'a' },
    annotations: { note: 'b' },
    kubeletPath: '/var/lib/kubelet',
    existingPriorityClassName: '',
    priorityClassValue: '1000000',
    cleanupPeriod: '1h30m',
    tolerations: [{ effect: 'NoSchedule', key: 'node-role.kubernetes.io/master', operator: 'Exists' }],
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    csiInit: CONTAINER,
    server: {
      ...CONTAINER,
      livenessProbe: {
        enabled: true,
        failureThreshold: 5,
        initialDelaySeconds: 15,
        periodSeconds: 15,
        successThreshold: 1,
        timeoutSeconds: 10,
      },
    },
    provisioner: CONTAINER,
    registrar: { builtIn: false, ...CONTAINER },
    livenessprobe: { builtIn: false, ...CONTAINER },
    job: CONTAINER,
  },
}

describe.skipIf(helmPath === undefined)('the CSI driver of the chart (skipped without helm)', () => {
  let folder: string
  let all: readonly UnknownObject[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-csi-values-'))
    all = await render()
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** The notes that helm prints after an installation with these values. */
  async function notesFor(values: object): Promise<string> {
    const file = join(folder, 'values.yaml')
    // CRDs take most of helm's time and have no notes.
    await writeFile(file, stringify({ installCRD: false, ...values }))
    const args = ['install', 'dynatrace-operator', CHART, '-n', NAMESPACE, '--dry-run=client', '-f', file]
    const env = { ...process.env, KUBECONFIG: '/dev/null' }
    const { stdout } = await promisify(execFile)(helmPath ?? '', args, { env, maxBuffer: 32 * 1024 * 1024 })
    return stdout.slice(stdout.indexOf('\nNOTES:'))
  }

  it('is announced as a driver of volumes that live with their pod, and knows the pod', async () => {
    expect(find(all, 'CSIDriver', DRIVER_NAME)).toMatchObject({
      spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] },
    })
    const label = 'security.openshift.io/csi-ephemeral-volume-profile'
    expect(find(all, 'CSIDriver', DRIVER_NAME)?.metadata.labels).not.toHaveProperty([label])
    const openshift = await renderWithoutCrds([], OPENSHIFT)
    expect(find(openshift, 'CSIDriver', DRIVER_NAME)?.metadata.labels).toMatchObject({ [label]: 'restricted' })
  })

  it('runs one process that mounts, registers and is probed, and one that installs code modules', () => {
    const { pod, containers } = podOf(all)
    expect(pod?.initContainers?.map(({ name }) => name)).toEqual(['csi-init'])
    expect(pod?.containers.map(({ name }) => name)).toEqual(['server', 'provisioner'])
    expect(containers.server?.args).toEqual([
      'csi-server',
      '--endpoint=unix:/csi/csi.sock',
      '--node-id=$(KUBE_NODE_NAME)',
      `--kubelet-registration-path=${KUBELET_SOCKET}`,
      '--health-port=9808',
      '--probe-timeout=9s',
    ])
    expect(containers.provisioner?.args).toEqual(['csi-provisioner', '--health-probe-bind-address=:10090'])
    expect(containers.server?.volumeMounts).toEqual([
      // Volumes that are mounted when it starts are unmounted in it, too.
      { name: 'plugin-dir', mountPath: '/csi', mountPropagation: 'HostToContainer' },
      { name: 'registration-dir', mountPath: '/registration' },
      { name: 'mountpoint-dir', mountPath: '/var/lib/kubelet/pods/', mountPropagation: 'Bidirectional' },
      { name: 'data-dir', mountPath: '/data', mountPropagation: 'Bidirectional' },
    ])
  })

  it('runs registrar and liveness probe as separate containers if configured', async () => {
    const { pod, containers } = podOf(await render('csidriver.separateSidecars=true'))
    expect(pod?.containers.map(({ name }) => name)).toEqual(['server', 'provisioner', 'registrar', 'liveness-probe'])
    expect(containers.server?.args).toHaveLength(3)
    expect(containers.server?.volumeMounts?.map(({ name }) => name)).not.toContain('registration-dir')
    expect(containers.registrar?.args).toEqual([
      'csi-node-driver-registrar',
      '--csi-address=/csi/csi.sock',
      '--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)',
    ])
    expect(envOf(containers.registrar).DRIVER_REG_SOCK_PATH).toBe(KUBELET_SOCKET)
    expect(containers['liveness-probe']?.args).toEqual([
      'livenessprobe',
      '--csi-address=/csi/csi.sock',
      '--health-port=9808',
      '--probe-timeout=9s',
    ])
  })

  it('starts only subcommands that exist', async () => {
    const { containers } = podOf(await render('csidriver.separateSidecars=true'))
    const names = SUBCOMMANDS.map(({ name }) => name)
    const started = Object.values(containers).map(({ args = [] }) => args[0] ?? '')
    expect(started.filter((name) => !names.includes(name))).toEqual([])
  })

  it.each([
    ['csidriver.separateSidecars=false', 114],
    ['csidriver.separateSidecars=true', 194],
  ])('requests little memory on each node, with %s', async (sidecars, mebibytes) => {
    const { pod, containers } = podOf(await render(sidecars))
    const requested = pod?.containers.map(({ resources }) => Number.parseInt(resources?.requests?.memory ?? '', 10))
    expect(requested?.reduce((sum, each) => sum + each, 0)).toBe(mebibytes)
    for (const container of Object.values(containers)) {
      expect(envOf(container).NODE_OPTIONS).toMatch(/^--max-semi-space-size=2 --max-old-space-size=\d+$/)
    }
  })

  it.each([
    ['csidriver.separateSidecars=false', ['server', 'provisioner']],
    ['csidriver.separateSidecars=true', ['server', 'provisioner', 'registrar']],
  ])('has neither a probe nor who serves it when it is switched off, with %s', async (sidecars, names) => {
    const { pod, containers } = podOf(await render(sidecars, 'csidriver.server.livenessProbe.enabled=false'))
    expect(pod?.containers.map(({ name }) => name)).toEqual(names)
    expect(containers.server).not.toHaveProperty('livenessProbe')
    expect(containers.server?.args).not.toContain('--health-port=9808')
  })

  it('is probed as the values say', async () => {
    const { containers } = podOf(await render('csidriver.server.livenessProbe.periodSeconds=30'))
    expect(containers.server?.livenessProbe).toEqual({
      httpGet: { path: '/healthz', port: 9808, scheme: 'HTTP' },
      initialDelaySeconds: 15,
      periodSeconds: 30,
      timeoutSeconds: 10,
      failureThreshold: 5,
      successThreshold: 1,
    })
    expect(containers.provisioner).toMatchObject({
      livenessProbe: {
        httpGet: { path: '/livez', port: 'livez', scheme: 'HTTP' },
        periodSeconds: 5,
        timeoutSeconds: 5,
      },
      startupProbe: {
        exec: { command: ['/usr/local/bin/dynatrace-operator', 'startup-probe'] },
        timeoutSeconds: 10,
        failureThreshold: 6,
      },
    })
  })

  it.each([
    ['/var/lib/kubelet', '/var/lib/kubelet'],
    ['my/kubelet/', 'my/kubelet'],
  ])('builds all paths below the kubelet path %s', async (value, root) => {
    const objects = await render(`csidriver.kubeletPath=${value}`, 'csidriver.separateSidecars=true')
    const plugin = `${root}/plugins/${DRIVER_NAME}`
    expect(hostPathsOf(objects)).toEqual({
      'registration-dir': `${root}/plugins_registry/`,
      'plugin-dir': `${plugin}/`,
      'data-dir': `${plugin}/data`,
      'mountpoint-dir': `${root}/pods/`,
    })
    const { containers } = podOf(objects)
    expect(envOf(containers.registrar).DRIVER_REG_SOCK_PATH).toBe(`${plugin}/csi.sock`)
    expect(envOf(containers.provisioner).CSI_DATA_DIR).toBe(`${plugin}/data`)
    expect(containers.server?.volumeMounts?.map(({ mountPath }) => mountPath)).toContain(`${root}/pods/`)
  })

  it('passes settings of download Jobs to the provisioner, in a fixed order', async () => {
    const { containers } = podOf(
      await render(
        'csidriver.labels.team=a',
        'csidriver.annotations.note=b',
        'csidriver.existingPriorityClassName=own',
      ),
    )
    const text = envOf(containers.provisioner)['helm.json'] ?? ''
    const settings = JSON.parse(text)
    expect(Object.keys(settings)).toEqual(['tolerations', 'annotations', 'labels', 'job'])
    expect(Object.keys(settings.job)).toEqual(['securityContext', 'resources', 'priorityClassName'])
    expect(settings).toMatchObject({
      tolerations: [
        { effect: 'NoSchedule', key: 'node-role.kubernetes.io/master', operator: 'Exists' },
        { effect: 'NoSchedule', key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' },
      ],
      annotations: { note: 'b' },
      labels: { team: 'a' },
      job: {
        securityContext: { privileged: true, runAsUser: 0 },
        resources: { requests: { cpu: '200m', memory: '30Mi' } },
        priorityClassName: 'own',
      },
    })
  })

  it('has its own priority class, or the one that exists', async () => {
    expect(find(all, 'PriorityClass', 'dynatrace-high-priority')).toMatchObject({ value: 1_000_000 })
    expect(podOf(all).pod?.priorityClassName).toBe('dynatrace-high-priority')
    const own = await render('csidriver.existingPriorityClassName=own')
    expect(own.filter(({ kind }) => kind === 'PriorityClass')).toEqual([])
    expect(podOf(own).pod?.priorityClassName).toBe('own')
    const valued = await render('csidriver.priorityClassValue=500')
    expect(find(valued, 'PriorityClass', 'dynatrace-high-priority')).toMatchObject({ value: 500 })
  })

  it('logs more and pulls with a Secret as configured, apart from sidecars, which have little to log', async () => {
    const values = ['csidriver.separateSidecars=true', 'debugLogs=true', 'customPullSecret=s']
    const { pod, containers } = podOf(await render(...values))
    const levels = Object.values(containers).map((container) => [container.name, envOf(container).LOG_LEVEL])
    expect(Object.fromEntries(levels)).toEqual({
      'csi-init': undefined,
      server: 'debug',
      provisioner: 'debug',
      registrar: undefined,
      'liveness-probe': undefined,
    })
    expect(pod?.imagePullSecrets).toEqual([{ name: 's' }])
  })

  it('gives privileges to those containers only that mount', async () => {
    const { containers } = podOf(await render('csidriver.separateSidecars=true'))
    const privileged = Object.values(containers).filter(({ securityContext }) => securityContext?.privileged)
    expect(privileged.map(({ name }) => name)).toEqual(['server', 'provisioner'])
    for (const { securityContext } of Object.values(containers)) {
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, runAsUser: 0 })
    }
  })

  it('runs on nodes that are tainted or about to be removed, and is updated as the values say', async () => {
    const { pod, daemonSet } = podOf(all)
    expect(pod?.tolerations?.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['node-role.kubernetes.io/control-plane', 'ToBeDeletedByClusterAutoscaler']),
    )
    expect(daemonSet?.spec?.updateStrategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
    })
    const plain = podOf(await render('csidriver.updateStrategy=null', 'csidriver.nodeSelector.pool=apps'))
    expect(plain.daemonSet?.spec).not.toHaveProperty('updateStrategy')
    expect(plain.pod?.nodeSelector).toEqual({ pool: 'apps' })
  })

  it.each([
    ['1.30.0', [], ['csi-init', 'server', 'provisioner'], undefined],
    ['1.31.0', [], [], { appArmorProfile: { type: 'RuntimeDefault' } }],
    ['1.30.0', OPENSHIFT, [], undefined],
  ])('runs under AppArmor if configured, on Kubernetes %s %j', async (version, flags, annotated, context) => {
    const { template, pod } = podOf(await renderWithoutCrds(['apparmor=true'], [`--kube-version=${version}`, ...flags]))
    const prefix = 'container.apparmor.security.beta.kubernetes.io/'
    const keys = Object.keys(template?.metadata?.annotations ?? {}).filter((key) => key.startsWith(prefix))
    expect(keys.map((key) => key.slice(prefix.length))).toEqual(annotated)
    expect(pod?.securityContext).toEqual(context)
  })

  it('is not rendered when it is switched off', async () => {
    const rendered = namesOf(await render('csidriver.enabled=false'))
    expect(namesOf(all).filter((name) => !rendered.includes(name))).toEqual(
      [
        ...['ClusterRole', 'ClusterRoleBinding', 'DaemonSet', 'Role', 'RoleBinding', 'ServiceAccount'].map(
          (kind) => `${kind} ${CSI}`,
        ),
        `CSIDriver ${DRIVER_NAME}`,
        'PriorityClass dynatrace-high-priority',
      ].sort(),
    )
  })

  it('installs from a values file with every key of the driver, and names those without effect', async () => {
    const notes = await notesFor(EVERY_VALUE)
    const [, listed = ''] = notes.split('These values have no effect:')
    const keys = listed.split('\n').flatMap((line) => /^ {2}(\S+):/.exec(line)?.[1] ?? [])
    expect(keys).toEqual([
      'debug',
      'csidriver.registrar.builtIn',
      'csidriver.livenessprobe.builtIn',
      'csidriver.registrar.resources',
      'csidriver.registrar.securityContext',
      'csidriver.livenessprobe.resources',
      'csidriver.livenessprobe.securityContext',
    ])
  })

  it('has nothing to say about values by default, and about sidecars when they are separate', async () => {
    const usual = await notesFor({})
    expect(usual).not.toContain('no effect')
    expect(usual).toContain(`rollout status daemonset/${CSI}`)
    expect(usual).toContain('imageRef.repository is not set')
    expect(await notesFor({ csidriver: { separateSidecars: true, registrar: CONTAINER } })).not.toContain('no effect')
    expect(await notesFor({ imageRef: { repository: 'a/b' } })).not.toContain('imageRef.repository')
    expect(await notesFor({ csidriver: { enabled: false } })).toContain('The CSI driver is not installed')
  })

  it.each([
    ['a misspelt key', 'csidriver.kubeletpath=/x', /'kubeletpath' not allowed/],
    ['a misspelt key of a container', 'csidriver.server.resource.limits.memory=1Gi', /'resource' not allowed/],
    ['a period without a unit', 'csidriver.cleanupPeriod=ten', /cleanupPeriod/],
    ['a priority that is not a number', 'csidriver.priorityClassValue=high', /priorityClassValue/],
  ])('rejects %s by naming it', async (_, value, message) => {
    await expect(render(value)).rejects.toThrow(message)
  })
})
