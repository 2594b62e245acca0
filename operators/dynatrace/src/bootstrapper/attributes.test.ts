import { describe, expect, it } from 'vitest'
import { imageOf, metadataOf, parseContainer, parsePodAttributes } from './attributes.ts'

const container = { 'k8s.container.name': 'app' } as const

describe('attributes of a pod', () => {
  it.each(['a=b=c', 'x', ''])('are ignored without an error when they are written as "%s"', (attribute) => {
    expect(parsePodAttributes([attribute]).userDefined).toEqual(new Map())
  })

  it('count by their last value', () => {
    const pod = parsePodAttributes(['k8s.pod.name=a', 'team=x', 'k8s.pod.name=b', 'team=y'])
    expect([pod.known('k8s.pod.name'), pod.userDefined]).toEqual(['b', new Map([['team', 'y']])])
  })

  it('are written with their deprecated names, unless the user defined those', () => {
    const pod = parsePodAttributes(['k8s.cluster.uid=c', 'k8s.workload.kind=job', 'dt.kubernetes.workload.kind=mine'])
    expect(Object.fromEntries(metadataOf(pod, container))).toEqual({
      'dt.kubernetes.cluster.id': 'c',
      'dt.kubernetes.workload.kind': 'mine',
      'k8s.cluster.uid': 'c',
      'k8s.container.name': 'app',
      'k8s.workload.kind': 'job',
    })
  })

  it('are left out when they are empty, but for those of the user', () => {
    const pod = parsePodAttributes(['k8s.pod.name=', 'team='])
    expect([...metadataOf(pod, container)]).toEqual([
      ['k8s.container.name', 'app'],
      ['team', ''],
    ])
  })
})

describe('attributes of a container', () => {
  it.each(['{', '[]', 'null', '"app"', '{}', '{"k8s.container.name":""}', '{"k8s.container.name":1}'])(
    'are an error: %s',
    (json) => {
      expect(() => parseContainer(json)).toThrow('--attribute-container')
    },
  )

  it.each(['..', '.', 'a/b', '../a', '/a', 'a\u0000'])('cannot lead to another folder by the name %j', (name) => {
    expect(() => parseContainer(JSON.stringify({ 'k8s.container.name': name }))).toThrow('not a container name')
  })

  it.each([
    [{}, ''],
    [{ 'container_image.repository': 'php', 'container_image.tags': 'fpm' }, 'php:fpm'],
    [
      { 'container_image.registry': 'r', 'container_image.repository': 'a/b', 'container_image.digest': 's:x' },
      'r/a/b@s:x',
    ],
  ])('%j name the image %s', (image, expected) => {
    expect(imageOf({ ...image, ...container })).toBe(expected)
  })
})
