import { SimulatedClock } from '@reeve/http/testing'
import { expect, test } from 'vitest'
import { FakeCluster } from '../testing/fake-cluster.ts'
import { Widgets, widget } from '../testing/fake-objects.ts'
import { type Interceptor, interceptClient } from './intercept.ts'

const key = { namespace: 'ns', name: 'a' }

function scenario() {
  const { client } = new FakeCluster({ clock: new SimulatedClock() })
  const passed: string[] = []
  const named = (name: string): Interceptor => ({
    around: (call, options, send) => {
      passed.push(`${name} ${call.verb}`)
      return send(options)
    },
    watching: (options) => {
      passed.push(`${name} watch`)
      return options
    },
  })
  return { client, passed, named }
}

test('a call passes all interceptors, the first one first, however many times a client was surrounded', async () => {
  const { client, passed, named } = scenario()
  const surrounded = interceptClient(interceptClient(client, [named('c')]), [named('a'), named('b')])
  await surrounded.create(Widgets, widget('a'))
  expect(passed).toEqual(['a create', 'b create', 'c create'])
  expect((await surrounded.get(Widgets, key)).metadata.name).toBe('a')
  expect(passed.slice(3)).toEqual(['a get', 'b get', 'c get'])
})

test('a watch passes them as well', () => {
  const { client, passed, named } = scenario()
  interceptClient(client, [named('a'), named('b')]).watch(Widgets)
  expect(passed).toEqual(['a watch', 'b watch'])
})

test('the client that was surrounded stays as it was', async () => {
  const { client, passed, named } = scenario()
  const inner = interceptClient(client, [named('inner')])
  interceptClient(inner, [named('outer')])
  await inner.create(Widgets, widget('a'))
  expect(passed).toEqual(['inner create'])
})
