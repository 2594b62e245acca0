{{- /*
Values as the templates read them. `helm upgrade --reuse-values` replaces the defaults of the chart by the values of the
release before, which another chart of the operator may have installed: what is missing there, or null, has its default.
Every template that reads values includes it first. It changes them in place, for all templates, and only once: that would be
half of the time of a rendering. The schema allows nobody to set `prepared`.
*/}}
{{- define "dynatrace.prepareValues" -}}
{{- if not (hasKey .Values "prepared") -}}
{{- $_ := set .Values "prepared" true -}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- include "dynatrace.setDefaults" (list .Values $defaults) -}}
{{- range list "operator" "webhook" -}}
{{- include "dynatrace.fitResources" (list . (get $.Values .) (get $defaults .)) -}}
{{- end -}}
{{- range $name := list "csiInit" "server" "provisioner" "job" "registrar" "livenessprobe" -}}
{{- $values := get $.Values.csidriver $name -}}
{{- $ours := get $defaults.csidriver $name -}}
{{- if and $ours.securityContext (not $values.securityContext) -}}
{{- /* Without it, a container that mounts is rejected. */ -}}
{{- $_ := set $values "securityContext" (deepCopy $ours.securityContext) -}}
{{- end -}}
{{- with $values.resources -}}
{{- include "dynatrace.fitResources" (list (printf "csidriver.%s.resources" $name) . ($ours.resources | default dict)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /*
Sets what is missing. Takes the values and their defaults. Some values are left out of a group that is there: a values file
takes them away by null. Switches may be texts, as by --set-string.
*/}}
{{- define "dynatrace.setDefaults" -}}
{{- $values := index . 0 -}}
{{- $optional := list "limits" "podSecurityContext" "requests" "resources" "securityContext" "tolerations" "updateStrategy" -}}
{{- range $key, $default := index . 1 -}}
{{- $value := index $values $key -}}
{{- if has $key $optional -}}
{{- else if kindIs "invalid" $value -}}
{{- $_ := set $values $key (deepCopy $default) -}}
{{- else if and (kindIs "map" $default) (kindIs "map" $value) -}}
{{- include "dynatrace.setDefaults" (list $value $default) -}}
{{- else if and (kindIs "bool" $default) (kindIs "string" $value) -}}
{{- $_ := set $values $key (eq $value "true") -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /*
The API server rejects a request above its limit. Where a values file sets only one of them, the other, which is ours, gives
way. Takes the path of the values, the values and their defaults, each with requests and limits.
*/}}
{{- define "dynatrace.fitResources" -}}
{{- $path := index . 0 -}}
{{- $values := index . 1 -}}
{{- $ours := index . 2 -}}
{{- range $field := list "requests" "limits" -}}
{{- range $name, $quantity := index $values $field -}}
{{- if kindIs "invalid" $quantity -}}
{{- $_ := unset (index $values $field) $name -}}
{{- end -}}
{{- else -}}
{{- $_ := unset $values $field -}}
{{- end -}}
{{- end -}}
{{- $limits := $values.limits -}}
{{- range $name, $request := $values.requests -}}
{{- if hasKey $limits $name -}}
{{- $limit := index $limits $name -}}
{{- $requested := include "dynatrace.amount" $request -}}
{{- $limited := include "dynatrace.amount" $limit -}}
{{- if gt (float64 $requested) (float64 $limited) -}}
{{- if eq $requested (include "dynatrace.amount" (dig "requests" $name "" $ours)) -}}
{{- $_ := set $values.requests $name $limit -}}
{{- else if ne $limited (include "dynatrace.amount" (dig "limits" $name "" $ours)) -}}
{{- fail (printf "%s.requests.%s is %v, which is more than %s.limits.%s of %v: lower the request or raise the limit" $path $name $request $path $name $limit) -}}
{{- else if hasPrefix "csidriver.provisioner" $path -}}
{{- /* Other charts of the operator do not limit it. */ -}}
{{- $_ := unset $limits $name -}}
{{- if not $limits -}}
{{- $_ := unset $values "limits" -}}
{{- end -}}
{{- else -}}
{{- $_ := set $limits $name $request -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* The number that a quantity stands for, such as 1048576 for 1Mi. */}}
{{- define "dynatrace.amount" -}}
{{- $text := toString . -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- $number := trimSuffix $unit $text | float64 -}}
{{- $factors := dict "n" 1e-9 "u" 1e-6 "m" 1e-3 "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 -}}
{{- $binary := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- mulf $number (get (merge $factors $binary) $unit) -}}
{{- end }}
