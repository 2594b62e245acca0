import { expect, test } from 'vitest'
import { readyCondition } from './ready-condition.ts'

const outcomes = [
  { name: 'ActiveGate', isReady: false },
  { name: 'OneAgent', isReady: true },
  { name: 'KSPM', isReady: false },
]

test('the condition Ready names the components that pods are missing of', () => {
  expect(readyCondition('Deploying', { failure: undefined, outcomes })).toEqual({
    type: 'Ready',
    status: 'False',
    reason: 'Deploying',
    message: 'waiting for ActiveGate, KSPM',
  })
})

test('the condition Ready explains a failure', () => {
  const condition = readyCondition('Error', { failure: new Error('the token is missing'), outcomes })
  expect(condition).toMatchObject({ status: 'False', reason: 'Error', message: 'the token is missing' })
})

test('the condition Ready is True for what runs', () => {
  expect(readyCondition('Running', { failure: undefined, outcomes: [] })).toMatchObject({ status: 'True' })
})
