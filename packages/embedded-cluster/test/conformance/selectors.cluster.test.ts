/** Label and field selectors: what they match and how they are rejected. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, pod, pods } from './support/objects.ts'
import { badRequest } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const named = (body: Json) => body.items.map((item: Json) => item.metadata.name)

describe('labels', () => {
  let namespace: string
  const objects: Readonly<Record<string, Json>> = {
    a: { app: 'web', size: '1', 'example.com/team': 'red' },
    b: { app: 'web', size: '20' },
    c: { app: 'db', size: 'big' },
    d: { app: '' },
    e: undefined,
  }

  beforeAll(async () => {
    namespace = await api.newNamespace()
    for (const [name, labels] of Object.entries(objects)) {
      await api.create(configMaps(namespace), configMap(name, { metadata: { labels } }))
    }
  })

  const select = (selector: string) => api.get(`${configMaps(namespace)}?labelSelector=${encodeURIComponent(selector)}`)

  it.each<[string, string[]]>([
    ['app=web', ['a', 'b']],
    ['app==web', ['a', 'b']],
    ['app = web', ['a', 'b']],
    ['app=', ['d']],
    ['app!=web', ['c', 'd', 'e']],
    ['app', ['a', 'b', 'c', 'd']],
    ['!app', ['e']],
    ['! app', ['e']],
    ['app in (web,db)', ['a', 'b', 'c']],
    ['app in (,db)', ['c', 'd']],
    ['app in ()', ['d']],
    ['app notin (web)', ['c', 'd', 'e']],
    ['size>5', ['b']],
    ['size<5', ['a']],
    ['app=web,size>5', ['b']],
    ['app in (web),!example.com/team', ['b']],
    ['example.com/team=red', ['a']],
    ['app=web,app=db', []],
  ])('%s', async (selector, expected) => {
    const { status, body } = await select(selector)
    expect(status).toBe(200)
    expect(named(body).filter((name: string) => name !== 'kube-root-ca.crt')).toEqual(expected)
  })

  it('that are empty match everything', async () => {
    const { body } = await select('')
    expect(named(body)).toEqual(expect.arrayContaining(Object.keys(objects)))
  })

  const LABEL_KEY =
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"

  it.each<[string, string]>([
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['app=web,', "found '', expected: identifier after ','"],
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    ['app web', "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt"],
    ['app=web=db', "found '=', expected: ',' or 'end of string'"],
    ['!app=web', "found '=', expected: ',' or 'end of string'"],
    ['size>=5', "unable to parse requirement: found '=', expected: identifier"],
    [
      'size>big',
      "unable to parse requirement: values[0]: Invalid value: \"big\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['a/b/c=d', `unable to parse requirement: <nil>: Invalid value: "a/b/c": ${LABEL_KEY}`],
  ])('%s are rejected', async (selector, message) => {
    const { status, body } = await select(selector)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(message))
  })
})

describe('fields', () => {
  const select = (collection: string, selector: string) =>
    api.get(`${collection}?fieldSelector=${encodeURIComponent(selector)}`)

  it.each<[string, (name: string) => string, boolean]>([
    ['metadata.name=', (name) => `metadata.name=${name}`, true],
    ['metadata.name==', (name) => `metadata.name==${name}`, true],
    ['metadata.name!=', (name) => `metadata.name!=${name}`, false],
    ['both name and namespace', (name) => `metadata.name=${name},metadata.namespace=${api.namespace}`, true],
    ['another namespace', (name) => `metadata.name=${name},metadata.namespace=elsewhere`, false],
    ['a comma at the end', (name) => `metadata.name=${name},`, true],
  ])('%s', async (_, selector, isSelected) => {
    const name = unique('selected')
    await api.create(configMaps(api.namespace), configMap(name))
    const { status, body } = await select(configMaps(api.namespace), selector(name))
    expect(status).toBe(200)
    expect(named(body).includes(name)).toBe(isSelected)
  })

  it('can be combined with labels', async () => {
    const name = unique('both')
    await api.create(configMaps(api.namespace), configMap(name, { metadata: { labels: { only: 'this' } } }))
    const of = `${configMaps(api.namespace)}?fieldSelector=metadata.name%3D${name}`
    expect(named((await api.get(`${of}&labelSelector=only%3Dthis`)).body)).toEqual([name])
    expect(named((await api.get(`${of}&labelSelector=only%3Dthat`)).body)).toEqual([])
  })

  it('of a pod match its node and its status', async () => {
    const name = unique('pod')
    await api.create(pods(api.namespace), pod(name, { spec: { restartPolicy: 'OnFailure', schedulerName: 'nobody' } }))
    const expected: Readonly<Record<string, boolean>> = {
      'spec.schedulerName=nobody': true,
      'spec.schedulerName=default-scheduler': false,
      'spec.restartPolicy=OnFailure': true,
      'spec.restartPolicy!=OnFailure': false,
      'spec.serviceAccountName=default': true,
      'status.phase=Pending': true,
      'status.phase=Running': false,
      'spec.nodeName=': true,
      'spec.hostNetwork=false': true,
    }
    for (const [selector, isSelected] of Object.entries(expected)) {
      const { body } = await select(pods(api.namespace), selector)
      expect([selector, named(body).includes(name)]).toEqual([selector, isSelected])
    }
  })

  it('of a pod follow its changes', async () => {
    const { metadata } = await api.create(pods(api.namespace), pod(unique('pod')))
    const { body } = await until('the pod is on a node', async () => {
      const response = await api.get(`${pods(api.namespace)}/${metadata.name}`)
      return response.body.spec.nodeName === undefined ? undefined : response
    })
    expect(named((await select(pods(api.namespace), `spec.nodeName=${body.spec.nodeName}`)).body)).toContain(
      metadata.name,
    )
    expect(named((await select(pods(api.namespace), 'spec.nodeName=')).body)).not.toContain(metadata.name)
  })

  it('of a secret match its type', async () => {
    const name = unique('secret')
    const secrets = `/api/v1/namespaces/${api.namespace}/secrets`
    await api.create(secrets, { metadata: { name }, type: 'example.com/special' })
    expect(named((await select(secrets, 'type=example.com/special')).body)).toEqual([name])
    expect(named((await select(secrets, 'type=Opaque')).body)).not.toContain(name)
  })

  it('of an event match its object, in both groups', async () => {
    const about = { kind: 'Pod', namespace: api.namespace, name: unique('subject'), uid: unique('uid') }
    const events = `/api/v1/namespaces/${api.namespace}/events`
    const { metadata } = await api.create(events, {
      metadata: { name: unique('event') },
      involvedObject: about,
      reason: 'Tested',
      type: 'Normal',
      source: { component: 'tester' },
    })
    const core = `involvedObject.kind=Pod,involvedObject.name=${about.name},involvedObject.uid=${about.uid},reason=Tested,type=Normal,source=tester`
    expect(named((await select(events, core)).body)).toEqual([metadata.name])
    const regarding = `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`
    expect(named((await select(regarding, `regarding.name=${about.name},reason=Tested`)).body)).toEqual([metadata.name])
  })

  it('of nodes, namespaces and jobs are supported', async () => {
    const nodes = named((await select('/api/v1/nodes', 'spec.unschedulable=false')).body)
    expect(nodes).toEqual(expect.arrayContaining(['node-1', 'node-2', 'node-3']))
    expect(named((await select('/api/v1/namespaces', 'status.phase=Active')).body)).toContain(api.namespace)
    expect((await select('/apis/batch/v1/jobs', 'status.successful=77')).body.items).toEqual([])
  })

  const ONLY = 'only "metadata.name", "metadata.namespace"'

  it.each<[string, string, string]>([
    ['/api/v1/configmaps', 'data.k=v', `"data.k" is not a known field selector: ${ONLY}`],
    ['/api/v1/configmaps', 'metadata.uid=x', `"metadata.uid" is not a known field selector: ${ONLY}`],
    ['/apis/apps/v1/deployments', 'spec.replicas=1', `"spec.replicas" is not a known field selector: ${ONLY}`],
    ['/apis/apps/v1/replicasets', 'status.replicas=1', `"status.replicas" is not a known field selector: ${ONLY}`],
    ['/api/v1/pods', 'spec.color=red', 'field label not supported: spec.color'],
    ['/apis/events.k8s.io/v1/events', 'involvedObject.kind=Pod', 'field label not supported: involvedObject.kind'],
    ['/api/v1/configmaps', 'metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    [
      '/api/v1/configmaps',
      'metadata.name in (a)',
      "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
    ],
  ])('of %s with %s are rejected', async (collection, selector, message) => {
    const { status, body } = await select(collection, selector)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(message))
  })
})
