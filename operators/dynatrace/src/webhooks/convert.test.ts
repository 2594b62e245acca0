import { describe, expect, it } from 'vitest'
import { convertRoute } from './convert.ts'

const dynakube = (version: string) => ({
  apiVersion: `dynatrace.com/${version}`,
  kind: 'DynaKube',
  metadata: { namespace: 'dynatrace', name: version },
  spec: { apiUrl: 'https://x/api' },
})

async function review(desiredAPIVersion: string, ...objects: object[]) {
  const request = { uid: 'uid-1', desiredAPIVersion, objects }
  const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request }
  // The response is JSON; the tests know its shape.
  return (await convertRoute().respond(body, new AbortController().signal)) as {
    readonly response: { readonly uid: string; readonly result: object; readonly convertedObjects: readonly object[] }
  }
}

describe('the conversion webhook', () => {
  it('fails the whole review when one object has an unknown version', async () => {
    const { response } = await review('dynatrace.com/v1beta6', dynakube('v1beta5'), dynakube('v1beta2'))
    expect(response).toEqual({
      uid: 'uid-1',
      convertedObjects: [],
      result: { status: 'Failure', message: expect.stringContaining('v1beta2') },
    })
  })

  it('converts between old versions', async () => {
    const { response } = await review('dynatrace.com/v1beta5', dynakube('v1beta4'))
    expect(response.result).toEqual({ status: 'Success' })
    expect(response.convertedObjects).toMatchObject([{ apiVersion: 'dynatrace.com/v1beta5', kind: 'DynaKube' }])
  })

  it('refuses to convert to the version that an object has', async () => {
    const { response } = await review('dynatrace.com/v1beta5', dynakube('v1beta5'))
    expect(response.result).toMatchObject({ status: 'Failure', message: expect.stringContaining('already is v1beta5') })
  })

  it('refuses kinds that it does not know', async () => {
    const { response } = await review('dynatrace.com/v1beta5', { ...dynakube('v1beta4'), kind: 'Widget' })
    expect(response.result).toMatchObject({ status: 'Failure' })
  })
})
