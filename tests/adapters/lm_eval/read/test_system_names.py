import pytest

from harness_uq_lm_eval.read.system_names import system_name


def named(arguments, model_name=None, **config):
    return system_name({"config": {"model_args": arguments, **config}, "model_name": model_name})


def test_settings_that_may_change_answers_are_part_of_the_name():
    arguments = {"pretrained": "Qwen/Qwen3-8B", "dtype": "bfloat16", "enable_thinking": False}
    assert named(arguments, "Qwen/Qwen3-8B") == "Qwen/Qwen3-8B (enable_thinking=False)"


def test_where_and_how_fast_a_model_runs_is_not():
    arguments = (
        "model=gemma3:12b,base_url=http://localhost:11434/v1,tokenizer_backend=None,num_concurrent=8,api_key=abc"
    )
    assert named(arguments, "gemma3:12b") == "gemma3:12b"


def test_a_text_and_an_object_of_arguments_give_the_same_name():
    assert named("pretrained=gpt2,revision=main") == named({"pretrained": "gpt2", "revision": "main"})


def test_generation_settings_are_part_of_the_name():
    assert named("pretrained=gpt2", gen_kwargs={"temperature": 0.7}) == "gpt2 (temperature=0.7)"


def test_an_adapter_names_the_system_and_keeps_its_base_model_apart():
    assert named("pretrained=gpt2,peft=me/lora") == "me/lora (pretrained=gpt2)"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/alice/out/run7/checkpoint-500", "run7/checkpoint-500"),
        ("C:\\Users\\alice\\models\\m", "models/m"),
        ("org/model", "org/model"),
    ],
)
def test_names_contain_two_parts_of_an_absolute_path(path, shown):
    assert named({"pretrained": path}, path) == shown


def test_a_name_generated_by_lm_eval_is_replaced_by_the_model_class():
    assert named({"ability": 0.5}, "qdpv68r5", model="scripted") == "scripted (ability=0.5)"
    assert named({}, "2cwrw4i0", model="dummy") == "dummy"


def test_a_name_without_arguments_is_used():
    assert named(None, "matharena/QwQ-32B", model="Replay") == "matharena/QwQ-32B"


def test_a_run_that_names_nothing_is_unnamed():
    assert system_name({}) == "unnamed model"
