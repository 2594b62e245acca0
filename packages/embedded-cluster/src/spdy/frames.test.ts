import { describe, expect, it } from 'vitest'
import { controlFrame, dataFrame, FRAME, FrameReader, words } from './frames.ts'

describe('frames of SPDY', () => {
  it('are read from any pieces of the connection', () => {
    const bytes = Buffer.concat([
      controlFrame(FRAME.ping, words(1)),
      dataFrame(3, Buffer.from('hello'), false),
      dataFrame(3, Buffer.alloc(0), true),
    ])
    for (let size = 1; size <= bytes.length; size += 1) {
      const reader = new FrameReader()
      const frames = []
      for (let start = 0; start < bytes.length; start += size)
        frames.push(...reader.read(bytes.subarray(start, start + size)))
      expect(
        frames.map(({ type, streamId, isLast, payload }) => [type, streamId, isLast, payload.toString('latin1')]),
      ).toEqual([
        [FRAME.ping, 0, false, '\0\0\0\u0001'],
        [undefined, 3, false, 'hello'],
        [undefined, 3, true, ''],
      ])
    }
  })

  it('are rejected when they are of another version, or larger than any client sends', () => {
    expect(() => new FrameReader().read(Buffer.from([0x80, 2, 0, 6, 0, 0, 0, 0]))).toThrow('SPDY/3')
    expect(() => new FrameReader().read(Buffer.from([0, 0, 0, 1, 0, 0x20, 0, 0]))).toThrow('too large')
  })
})
