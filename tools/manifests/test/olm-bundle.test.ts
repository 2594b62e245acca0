/** The OLM bundle of the Dynatrace operator, compared with what its chart installs. */
import { dirname } from 'node:path'
import { findClientBinary } from '@reeve/client-binaries'
import { crdManifests } from '@reeve/dynatrace'
import type { UnknownObject } from '@reeve/kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { OLM_VALUES, olmBundle } from '../src/olm/bundle.ts'
import { chartFolder } from '../src/operator-files.ts'
import { renderVariant } from '../src/render-variant.ts'

const helm = await findClientBinary('helm')
const chart = chartFolder('dynatrace')

describe.skipIf(helm === undefined)('the OLM bundle (skipped without helm)', () => {
  let objects: readonly UnknownObject[]
  let files: ReadonlyMap<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: whatever is read of it is asserted at once.
  let version: any
  beforeAll(async () => {
    // From code, because the templates are most of the time that helm takes. The types leave their spec open.
    const crds = crdManifests() as unknown as readonly UnknownObject[]
    const options = { helm: helm ?? '', release: 'dynatrace-operator', namespace: 'dynatrace' }
    objects = [...crds, ...(await renderVariant(chart, { ...options, values: { ...OLM_VALUES, installCRD: false } }))]
    const bundle = await olmBundle(dirname(chart), objects)
    files = new Map(bundle.map(({ path, content }) => [path, content]))
    version = parse(files.get('manifests/dynatrace-operator.clusterserviceversion.yaml') ?? '')
  })
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const find = (kind: string, name: string): any =>
    objects.find((object) => object.kind === kind && object.metadata.name === name)

  it('consists of what OLM accepts, and says where it is', () => {
    const kinds = [...files].filter(([path]) => path.startsWith('manifests/')).map(([, text]) => parse(text).kind)
    expect(new Set(kinds)).toEqual(
      new Set(['ClusterServiceVersion', 'CustomResourceDefinition', 'PodDisruptionBudget']),
    )
    const { annotations } = parse(files.get('metadata/annotations.yaml') ?? '')
    expect(annotations).toMatchObject({
      'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
      'operators.operatorframework.io.bundle.package.v1': 'dynatrace-operator',
    })
    const folders = ['manifests', 'metadata'].map(
      (name) => annotations[`operators.operatorframework.io.bundle.${name}.v1`],
    )
    for (const folder of folders) expect([...files.keys()].some((path) => path.startsWith(folder))).toBe(true)
  })

  it('is named after its version, with an icon and the image that it runs', () => {
    expect(version.metadata.name).toBe('dynatrace-operator.v0.1.0')
    expect(version.spec.version).toBe('0.1.0')
    expect(version.spec.minKubeVersion).toMatch(/^\d+\.\d+\.\d+$/)
    const [{ mediatype, base64data }] = version.spec.icon
    expect(mediatype).toBe('image/svg+xml')
    expect(Buffer.from(base64data, 'base64').toString()).toMatch(/^<svg .*<\/svg>$/)
    const { image } = find('Deployment', 'dynatrace-operator').spec.template.spec.containers[0]
    expect(version.spec.relatedImages).toEqual([{ name: 'dynatrace-operator', image }])
    expect(version.metadata.annotations.containerImage).toBe(image)
  })

  it('installs the Deployments of the chart, with certificates of OLM', () => {
    const { deployments, ...rest } = version.spec.install.spec
    expect(Object.keys(rest)).toEqual(['permissions', 'clusterPermissions'])
    expect(version.spec.install.strategy).toBe('deployment')
    const [operator, webhook] = deployments
    expect(deployments).toHaveLength(2)
    expect(operator.spec).toEqual(find('Deployment', 'dynatrace-operator').spec)
    expect(operator.label).toMatchObject({ 'dynatrace.com/install-source': 'operatorhub' })
    const { containers, volumes } = webhook.spec.template.spec
    // OLM mounts its Secret there.
    expect(containers[0].args).toContain('--certs-dir=/tmp/k8s-webhook-server/serving-certs/')
    expect([volumes, containers[0].volumeMounts]).toEqual([[], []])
  })

  it('grants each account what the roles of the chart grant it, aggregated ones included', () => {
    const { permissions, clusterPermissions } = version.spec.install.spec
    const rules = (list: { serviceAccountName: string; rules: object[] }[], account: string) =>
      list.find(({ serviceAccountName }) => serviceAccountName === account)?.rules
    const operator = [find('Role', 'dynatrace-operator'), find('Role', 'dynatrace-operator-supportability')]
    expect(rules(permissions, 'dynatrace-operator')).toEqual(operator.flatMap((role) => role.rules))
    expect(rules(permissions, 'dynatrace-webhook')).toEqual(find('Role', 'dynatrace-webhook').rules)
    for (const name of ['dynatrace-operator', 'dynatrace-webhook', 'dynatrace-edgeconnect']) {
      expect(rules(clusterPermissions, name)).toEqual(find('ClusterRole', name).rules)
    }
    const gateway = ['activegate', 'kubernetes-monitoring-default', 'kubernetes-monitoring-kspm']
    const granted = gateway.flatMap((name) => find('ClusterRole', `dynatrace-${name}`).rules)
    expect(rules(clusterPermissions, 'dynatrace-activegate')).toHaveLength(granted.length)
    expect(rules(clusterPermissions, 'dynatrace-activegate')).toEqual(expect.arrayContaining(granted))
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name)
    const known = [...permissions, ...clusterPermissions].map(({ serviceAccountName }) => serviceAccountName)
    expect([...new Set(known)].toSorted()).toEqual(accounts.toSorted())
  })

  it('has the webhooks of the chart, and converts both kinds', () => {
    const definitions: readonly { readonly [field: string]: unknown }[] = version.spec.webhookdefinitions
    const configured = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].flatMap(
      (kind) => find(kind, 'dynatrace-webhook').webhooks,
    )
    const admission = definitions.filter(({ type }) => type !== 'ConversionWebhook')
    expect(admission.map(({ generateName, webhookPath, rules }) => [generateName, webhookPath, rules])).toEqual(
      configured.map(({ name, clientConfig, rules }) => [name, clientConfig.service.path, rules]),
    )
    const { ports } = find('Deployment', 'dynatrace-webhook').spec.template.spec.containers[0]
    for (const definition of definitions) {
      expect(definition).toMatchObject({ deploymentName: 'dynatrace-webhook', sideEffects: 'None' })
      expect(ports.map(({ name }: { name: string }) => name)).toContain(definition.targetPort)
      expect(definition).not.toHaveProperty('namespaceSelector')
    }
    const conversions = definitions.filter(({ type }) => type === 'ConversionWebhook')
    expect(conversions.map(({ conversionCRDs, webhookPath }) => [conversionCRDs, webhookPath])).toEqual([
      [['dynakubes.dynatrace.com'], '/convert'],
      [['edgeconnects.dynatrace.com'], '/convert'],
    ])
    // The only mode that OLM allows with them.
    const modes = version.spec.installModes.filter(({ supported }: { supported: boolean }) => supported)
    expect(modes).toEqual([{ type: 'AllNamespaces', supported: true }])
  })

  it('shows every version of both kinds, each with an example', () => {
    const { owned } = version.spec.customresourcedefinitions
    const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
    const versions = crds.flatMap(({ spec, metadata }) =>
      (spec as { versions: { name: string }[] }).versions.map(({ name }) => `${metadata.name} ${name}`),
    )
    expect(owned.map(({ name, version: each }: Record<string, string>) => `${name} ${each}`)).toEqual(versions)
    const examples: readonly UnknownObject[] = JSON.parse(version.metadata.annotations['alm-examples'])
    expect(examples.map(({ apiVersion, kind }) => `${kind} ${apiVersion}`).toSorted()).toEqual(
      owned.map(({ kind, version: each }: Record<string, string>) => `${kind} dynatrace.com/${each}`).toSorted(),
    )
    expect(examples.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([])
  })
})
