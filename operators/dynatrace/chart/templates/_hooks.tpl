{{- define "dynatrace.crdStorageMigration" -}}
dynatrace-crd-storage-migration
{{- end }}

{{- /* Before the objects of an upgrade, and gone after it. */}}
{{- define "dynatrace.upgradeHook" -}}
helm.sh/hook: pre-upgrade
helm.sh/hook-weight: "-5"
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
