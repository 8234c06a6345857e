# Tests of what pages, sources and the files for Prometheus and Grafana say.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(page IN ITEMS faults curator-parity interop)
  add_test(NAME "docs/${page}.md names tests that exist"
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/page_test.sh ${PROJECT_SOURCE_DIR} docs/${page}.md)
  set_tests_properties("docs/${page}.md names tests that exist" PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

foreach(check IN ITEMS
    "layers:no file includes what is above its layer:${PROJECT_SOURCE_DIR}" "layers:each kind of wrong include is found:--self-test"
    "words:no file has a word that the glossary has replaced:${PROJECT_SOURCE_DIR}" "words:each replaced word is found:--self-test"
    "walks:the guides through the code of a lock name what is there:${PROJECT_SOURCE_DIR}"
    "walks:each thing that may be wrong with a guide is found:--self-test")
  string(REPLACE ":" ";" check ${check})
  list(GET check 0 script)
  list(GET check 1 title)
  list(GET check 2 argument)
  add_test(NAME ${title} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/structure/${script}.py ${argument})
  set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

set(title "the models of the protocols violate no promise, and their mutants do")
add_test(NAME ${title} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/models/check.py)
set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 300)

# What docs/operations.md gives to Prometheus and Grafana.
find_program(ZKLOCK_PROMTOOL promtool)  # without it these tests fail; nothing else needs it
set(operations ${PROJECT_SOURCE_DIR}/docs/operations)
set(title "the alert rules are rules")
add_test(NAME ${title} COMMAND ${ZKLOCK_PROMTOOL} check rules --lint-fatal ${operations}/alerts.yml)
set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 60)
set(title "each alert fires when it should, and only then")
add_test(NAME ${title} COMMAND ${ZKLOCK_PROMTOOL} test rules ${operations}/alerts_test.yml)
set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 120)
foreach(check IN ITEMS
    "alert_cases:each alert has a firing case, a silent case and a runbook:${PROJECT_SOURCE_DIR}"
    "alert_cases:each thing that an alert may lack is found:--self-test"
    "grafana_file:each panel of the Grafana file has expressions of PromQL:${PROJECT_SOURCE_DIR}"
    "grafana_file:each fault of a Grafana file is found:--self-test"
    "metric_names:each name that only one side has is found:--self-test")
  string(REPLACE ":" ";" check ${check})
  list(POP_FRONT check script title)
  add_test(NAME ${title} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/operations/${script}.py ${check})
  set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()

foreach(quote IN ITEMS
    "docs/interop.md shows the Python that its tests run:docs/interop.md:python:integration/interop/curator_locks.py"
    "docs/leaders.md shows the program that its test runs:docs/leaders.md:cpp:examples/10_leader.cpp"
    "docs/transactions.md begins with a program that its tests run:docs/transactions.md:cpp:examples/18_exactly_once.cpp"
    "docs/counters.md begins with a program that its tests run:docs/counters.md:cpp:examples/19_counter.cpp"
    "docs/ids.md begins with a program that its tests run:docs/ids.md:cpp:examples/17_worker_ids.cpp"
    "docs/presence.md begins with a program that its tests run:docs/presence.md:cpp:examples/11_presence.cpp"
    "docs/caches.md shows the program that its tests run:docs/caches.md:cpp:examples/13_cache.cpp"
    "docs/barriers.md shows the program that its test runs:docs/barriers.md:cpp:examples/16_double_barrier.cpp")
  string(REPLACE ":" ";" quote ${quote})
  list(POP_FRONT quote title page language file)
  add_test(NAME ${title}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/quote_test.sh ${PROJECT_SOURCE_DIR}/${page} ${language} ${PROJECT_SOURCE_DIR}/${file})
  set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

# The protocols, in all orders of their steps.
foreach(model IN ITEMS double_barrier worker_id)
  set(title "the model ${model} keeps its promises, and its mutants do not")
  add_test(NAME ${title} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/models/${model}.py quick)
  set_tests_properties(${title} PROPERTIES LABELS unit TIMEOUT 600)
endforeach()
