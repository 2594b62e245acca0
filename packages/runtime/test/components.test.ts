/** Components: their order, their failures and the report about them. */
import { ConfigMaps } from '@reeve/kube'
import { waiting } from '@reeve/runtime'
import { ComponentEngine, type ComponentOptions, fallback, InvalidComponentsError } from '@reeve/runtime/components'
import { describe, expect, it } from 'vitest'
import { configMap, type Gadget, GadgetStage, Gadgets, type Part, part } from './support/gadgets.ts'

const stage = GadgetStage.forThisFile()
const { edit, names, reconcile, status } = stage

describe('components', () => {
  it('run in the order of their needs, each after those before it are applied', async () => {
    const order: string[] = []
    const a = part('a', {
      resolve: () => {
        order.push('a')
        return { size: 3 }
      },
      render: ({ facts }) => [configMap('a', { size: String((facts as { size: number }).size) })],
    })
    const b = part('b', {
      needs: [a],
      resolve: async ({ factsOf, client: reader }) => {
        order.push('b')
        const { data } = await reader.get(ConfigMaps, { namespace: 'default', name: 'a' })
        return { fromFacts: (factsOf(a) as { size: number }).size, fromCluster: data?.size }
      },
      render: ({ facts }) => [configMap('b', { text: JSON.stringify(facts) })],
    })
    await reconcile([b, a])
    expect(order).toEqual(['a', 'b'])
    expect((await stage.client.get(ConfigMaps, { namespace: 'default', name: 'b' })).data?.text).toBe(
      '{"fromFacts":3,"fromCluster":"3"}',
    )
  })

  it('render objects that the controller decorates before they are applied', async () => {
    await reconcile([part('a'), part('b')], {
      decorate: (wanted, { metadata }) => {
        const labels = { decorated: metadata.name }
        return { ...wanted, object: { ...wanted.object, metadata: { ...wanted.object.metadata, labels } } }
      },
    })
    for (const name of ['a', 'b']) {
      const { metadata } = await stage.client.get(ConfigMaps, { namespace: 'default', name })
      expect(metadata.labels).toEqual({ decorated: 'g' })
    }
  })

  it('write nothing when nothing changed', async () => {
    const parts = [part('a'), part('b', { report: (_outcome, reporter) => reporter.update({ note: 'b is here' }) })]
    await reconcile(parts)
    const before = stage.writes
    await reconcile(parts)
    expect(stage.writes).toBe(before)
  })

  it('that are disabled lose their objects and conditions, others do not', async () => {
    const a = part('a', {
      conditions: ['AReady'],
      report: ({ state }, reporter) => {
        if (state === 'done') reporter.setCondition({ type: 'AReady', status: 'True', reason: 'Here' })
      },
    })
    await reconcile([a, part('b')])
    expect((await status())?.conditions).toMatchObject([{ type: 'AReady', status: 'True' }])
    await edit('b')
    await reconcile([a, part('b')])
    expect(await names()).toEqual(['b'])
    expect((await status())?.conditions).toEqual([])
  })

  it('that fail take down only those that need them', async () => {
    const a = part('a', { resolve: () => Promise.reject(new Error('no answer')) })
    const b = part('b', { needs: [a] })
    await expect(reconcile([a, b, part('c')])).rejects.toThrow('no answer')
    expect(await names()).toEqual(['c'])
  })

  it('that fail are reported before the failure is thrown, each failure once', async () => {
    const broken = part('a', {
      render: () => {
        throw new Error('bad spec')
      },
    })
    const report: ComponentOptions<Gadget>['report'] = ({ failures, outcomes, isReady }) => ({
      status: {
        phase: isReady ? 'Ready' : 'Error',
        note: `${failures.map(({ message }) => message).join()}: ${outcomes.map(({ name, state }) => `${name} ${state}`).join()}`,
      },
    })
    await expect(reconcile([broken, part('b', { needs: [broken] })], { report })).rejects.toThrow('bad spec')
    expect(await status()).toEqual({ phase: 'Error', note: 'bad spec: a failed,b failed' })
  })

  it('that wait keep their objects, and everything else continues', async () => {
    await reconcile([part('a'), part('b')])
    await edit('a', 'c')
    const a = part('a', {
      resolve: () => waiting('an address', { requeueAfterMs: 5_000 }),
      mayOwn: () => [{ resource: ConfigMaps, name: 'a' }],
    })
    expect(await reconcile([a, part('b'), part('c')])).toEqual({ requeueAfterMs: 5_000 })
    expect(await names()).toEqual(['a', 'c'])
  })

  it('that wait without saying what they own keep everything', async () => {
    await reconcile([part('a'), part('b')])
    await edit('a')
    await reconcile([part('a', { render: () => waiting('an address') }), part('b')])
    expect(await names()).toEqual(['a', 'b'])
  })

  it('continue with the facts they had, and the failure is still reported', async () => {
    const a = part('a', {
      resolve: () => fallback({ token: 'old' }, new Error('the service is unavailable')),
      render: ({ facts }) => [configMap('a', facts as Record<string, string>)],
    })
    await expect(reconcile([a, part('b', { needs: [a] })])).rejects.toThrow('the service is unavailable')
    expect(await names()).toEqual(['a', 'b'])
    expect((await stage.client.get(ConfigMaps, { namespace: 'default', name: 'a' })).data).toEqual({ token: 'old' })
  })

  it('that come after another one run although that fails', async () => {
    const a = part('a', { resolve: () => Promise.reject(new Error('away')) })
    const b = part('b', { after: [a], resolve: ({ factsOf }) => ({ known: factsOf(a) }) })
    await expect(reconcile([b, a])).rejects.toThrow('away')
    expect(await names()).toEqual(['b'])
  })

  it('keep what was written before one of their objects failed', async () => {
    await stage.client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'foreign' },
      data: { theirs: 'yes' },
    })
    const a = part('a', { render: () => [configMap('first'), configMap('foreign'), configMap('last')] })
    await expect(reconcile([a, part('b')])).rejects.toThrow('foreign already exists and is not controlled by')
    expect(await names()).toEqual(['b', 'first', 'foreign'])
  })

  it('see the status that others reported before them', async () => {
    const a = part('a', { resolve: ({ reporter }) => void reporter.update({ note: 'from a' }) })
    const b = part('b', { needs: [a], render: ({ primary }) => [configMap('b', { note: primary.status?.note ?? '' })] })
    await reconcile([a, b])
    expect((await stage.client.get(ConfigMaps, { namespace: 'default', name: 'b' })).data).toEqual({ note: 'from a' })
    expect((await status())?.note).toBe('from a')
  })

  it('may not render one object twice', async () => {
    await expect(reconcile([part('a'), part('b', { render: () => [configMap('a')] })])).rejects.toThrow(
      'ConfigMap default/a is desired twice',
    )
  })

  it.each([
    ['undefined', undefined, 'returned undefined; return an array of desired objects, an empty one for none'],
    ['null', null, 'returned null; return an array'],
    ['one object', configMap('a'), 'returned an object; return an array'],
    ['a promise', Promise.resolve([configMap('a')]), 'returned a promise; make it synchronous'],
    ['an array with false', [configMap('a'), false], 'returned an array with false at [1]; leave it out'],
    ['an array with a hole', Array(1), 'returned an array with undefined at [0]; leave it out'],
    ['bare objects', [configMap('a').object], 'returned an array with an object at [0]; leave it out, or make it with'],
  ])('whose render returns %s fail and lose nothing', async (_what, rendered, message) => {
    await reconcile([part('a'), part('b')])
    const broken = part('a', { render: () => rendered as never })
    await expect(reconcile([broken, part('b')])).rejects.toThrow(`component "a": render ${message}`)
    expect(await names()).toEqual(['a', 'b'])
  })

  it('fail when the controller decorates an object with nothing', async () => {
    const decorate = () => undefined as never
    await expect(reconcile([part('a')], { decorate })).rejects.toThrow(
      'decorate returned undefined; return the desired',
    )
  })

  it('are rejected at the start when they are invalid', () => {
    const about = { resource: Gadgets, owned: [], fieldManager: 'gadgets' }
    const build = (...components: Part[]) => new ComponentEngine<Gadget>({ ...about, components })
    const a: Part = { name: 'a', conditions: ['Ready'] }
    expect(() => build(a, { name: 'a' })).toThrow(InvalidComponentsError)
    expect(() => build({ name: 'b', needs: [a] })).toThrow('component "b" needs "a", which is not listed')
    expect(() => build(a, { name: 'b', conditions: ['Ready'] })).toThrow('two components have the condition "Ready"')
    expect(() => build({ name: 'dns', finalize: async () => undefined })).toThrow('no finalizer is set')
    const circle: { name: string; needs: Part[] } = { name: 'c', needs: [] }
    circle.needs.push({ name: 'd', needs: [circle] })
    expect(() => build(circle, ...circle.needs)).toThrow('components depend on each other in a cycle: c → d → c')
  })
})

describe('the report', () => {
  it('can settle a failure itself', async () => {
    const a = part('a', { resolve: () => Promise.reject(new Error('taken by another owner')) })
    const report = () => ({ isHandled: true, requeueAfterMs: 60_000 })
    expect(await reconcile([a], { report })).toEqual({ requeueAfterMs: 60_000, isBackoff: true })
  })

  it('records its events after the status is written', async () => {
    const report: ComponentOptions<Gadget>['report'] = ({ changes }) => ({
      events: changes.map(({ type, object }) => ({ reason: 'Applied', message: `${type} ${object.metadata.name}` })),
    })
    await reconcile([part('a')], { report })
    expect(stage.events).toEqual([{ reason: 'Applied', message: 'created a' }])
  })
})
