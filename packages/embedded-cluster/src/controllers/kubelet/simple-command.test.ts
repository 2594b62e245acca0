import { expect, it } from 'vitest'
import { simpleCommandEnd } from './simple-command.ts'

const end = (command: string[], args: string[] = []) => simpleCommandEnd({ name: 'main', command, args })

it.each<[string[], number, number]>([
  [['sleep', '5'], 5_000, 0],
  [['sleep', '1000000'], Number.POSITIVE_INFINITY, 0],
  [['/bin/sh', '-c', 'exit 3'], 0, 3],
  [['sh', '-c', 'sleep 2; exit 1'], 2_000, 1],
  [['false'], 0, 1],
])('knows the end of %j', (command, runForMs, exitCode) => {
  expect(end(command)).toEqual({ runForMs, exitCode })
})

it('reads the arguments as well', () => {
  expect(end(['sh'], ['-c', 'exit 2'])).toEqual({ runForMs: 0, exitCode: 2 })
})

it.each([[['sh', '-c', 'test -f /done && exit 0']], [['server']], [[]], [['sh', '-c', '']]])(
  'does not guess the end of %j',
  (command) => {
    expect(end(command)).toBeUndefined()
  },
)

it('knows that the image pause runs until it is stopped', () => {
  const container = { name: 'main', image: 'registry.k8s.io/pause:3.10' }
  expect(simpleCommandEnd(container)?.runForMs).toBe(Number.POSITIVE_INFINITY)
  expect(simpleCommandEnd({ name: 'main', image: 'registry.example.com/pauses:1' })).toBeUndefined()
})
