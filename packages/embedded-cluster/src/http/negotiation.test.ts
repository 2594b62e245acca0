import { expect, test } from 'vitest'
import { negotiate } from './negotiation.ts'

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

test.each([
  [undefined, { format: 'json', as: undefined }],
  ['*/*', { format: 'json', as: undefined }],
  ['application/yaml', { format: 'yaml' }],
  ['application/vnd.kubernetes.protobuf,application/json', { format: 'json', as: undefined }],
  [`${table},application/json`, { as: 'Table', asVersion: 'v1' }],
  [`application/json;as=Table;v=v2;g=meta.k8s.io,application/json`, { as: undefined }],
  ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', { as: 'PartialObjectMetadataList' }],
  ['application/yaml;q=0.5, application/json', { format: 'json' }],
  ['text/html, application/json;q=0.1', { format: 'json' }],
])('Accept: %s', (header, expected) => {
  expect(negotiate(header)).toMatchObject(expected)
})

test.each(['text/html', 'application/json;as=Chart;g=meta.k8s.io;v=v1'])('%s is not acceptable', (header) => {
  expect(() => negotiate(header)).toThrow(expect.objectContaining({ code: 406, reason: 'NotAcceptable' }))
})
