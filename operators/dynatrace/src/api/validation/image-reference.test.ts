import { expect, it } from 'vitest'
import { mayBeImage } from './image-reference.ts'

it.each([
  'my.images.com/test',
  'my.images.com/test:tag',
  'my.images.com:5000/test:tag',
  '127.0.0.1:5000/test:tag',
  '[1080:0:0:0:8:800:200C:417A]:8888/test:tag',
  'https://my.images.com/test:tag',
  `team/agent@sha256:${'0'.repeat(64)}`,
])('%s is accepted as an image', (text) => {
  expect(mayBeImage(text)).toBe(true)
})

it.each([
  '',
  'BOOM',
  'x',
  'https://my.images.com:5000/test:tag',
  'https://[1080:0:0:0:8:800:200C:417A]:8888/test',
  'team/agent:',
  'team/agent@sha256:12',
])('%j is refused as an image', (text) => {
  expect(mayBeImage(text)).toBe(false)
})
