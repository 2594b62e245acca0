import { expect, test } from 'vitest'
import { Disposables } from './disposables.ts'

test('the last resource is disposed first, and all of them in spite of failures', async () => {
  const disposed: string[] = []
  const resource = (name: string, failure?: Error) => ({
    async [Symbol.asyncDispose]() {
      disposed.push(name)
      if (failure) throw failure
    },
  })
  const resources = new Disposables()
  resources.use(resource('first'))
  resources.use(resource('second'))
  resources.use(resource('third', new Error('third is busy')))
  await expect(resources[Symbol.asyncDispose]()).rejects.toThrow('third is busy')
  expect(disposed).toEqual(['third', 'second', 'first'])
  // Once is enough.
  await resources[Symbol.asyncDispose]()
  expect(disposed).toHaveLength(3)
})
